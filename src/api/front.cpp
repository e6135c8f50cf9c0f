// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <atomic>
#include <cstddef>

#include "api/entry.hpp"
#include "base/settings.hpp"
#include "host/mpi/fit.hpp"
#include "host/mpi/large_counts.hpp"
#include "host/mpi/requests.hpp"
#include "host/mpi/table.hpp"

/// Who serves the calls of front.def: this library, or, where it does not fit, the host. Decided at
/// the first of them, which MPI_Init or MPI_Session_init is in most programs.
namespace sidelight::api {
namespace {

using host::mpi::Named;

enum class Place : std::size_t {
#define SIDELIGHT_FRONT(name, words) name,
#define SIDELIGHT_TRACED_FRONT(name, words) name,
#define SIDELIGHT_FORTRAN_FRONT(call, name, words) name,
#include "api/front.def"
    count
};

constexpr auto places = static_cast<std::size_t>(Place::count);

} // namespace

// What this library does, of which the addresses alone are used here; entry.hpp has the types.
#define SIDELIGHT_FRONT(name, words)                                                               \
    static_assert(host::mpi::words_of<decltype(PMPI_##name)> == (words));                          \
    SIDELIGHT_OWN void named_own_##name() asm("own_" #name);
#define SIDELIGHT_TRACED_FRONT(name, words) SIDELIGHT_FRONT(name, words)
#define SIDELIGHT_FORTRAN_FRONT(call, name, words)                                                 \
    SIDELIGHT_OWN void named_own_##name() asm("own_" #name);
#include "api/front.def"

namespace {

/// Relaxed: whoever reads null decides once more, to the same end.
std::array<std::atomic<Named*>, places> serving{};

constexpr std::array<Named*, places> own{
#define SIDELIGHT_FRONT(name, words) &named_own_##name,
#define SIDELIGHT_TRACED_FRONT(name, words) &named_own_##name,
#define SIDELIGHT_FORTRAN_FRONT(call, name, words) &named_own_##name,
#include "api/front.def"
};

constexpr std::array<bool, places> only_traced{
#define SIDELIGHT_FRONT(name, words) false,
#define SIDELIGHT_TRACED_FRONT(name, words) true,
#define SIDELIGHT_FORTRAN_FRONT(call, name, words) false,
#include "api/front.def"
};

constexpr std::array<const char*, places> names_of_host{
#define SIDELIGHT_FRONT(name, words) "PMPI_" #name,
#define SIDELIGHT_TRACED_FRONT(name, words) "PMPI_" #name,
#define SIDELIGHT_FORTRAN_FRONT(call, name, words) #name,
#include "api/front.def"
};

using Find = void*(const char* name) noexcept;

/// Null where the host's function is not to be found, or not yet.
Named* server(std::size_t place, Find* find) noexcept
{
    const bool is_own =
        !only_traced[place] || !settings().trace.empty() || !host::mpi::host_polls_requests();
    if (is_own && host::mpi::fits_host()) {
        return own[place];
    }
    void* found = find(names_of_host[place]);
    return reinterpret_cast<Named*>(
        found != nullptr ? found : host::mpi::in_place_of(names_of_host[place]));
}

bool decide_one(std::size_t place, Find* find) noexcept
{
    Named* found = server(place, find);
    if (found != nullptr) {
        serving[place].store(found, std::memory_order_relaxed);
    }
    return found != nullptr;
}

/// Serves a call that nobody has.
Word nobody() noexcept { return MPI_ERR_OTHER; }

Named* decide(Place place) noexcept
{
    for (std::size_t other = 0; other < places; ++other) {
        decide_one(other, host::mpi::find_symbol);
    }
    // What is not found stays undecided: its library may be loaded later.
    const auto asked = static_cast<std::size_t>(place);
    return decide_one(asked, host::mpi::find_anywhere)
               ? serving[asked].load(std::memory_order_relaxed)
               : reinterpret_cast<Named*>(&nobody);
}

template <Place place, class... Words>
[[gnu::noinline]] Word serve_first(Words... words)
{
    return host::mpi::call_named(decide(place), words...);
}

template <Place place, class... Words>
[[gnu::always_inline]] inline Word serve(Words... words)
{
    Named* found = serving[static_cast<std::size_t>(place)].load(std::memory_order_relaxed);
    return found != nullptr ? host::mpi::call_named(found, words...) : serve_first<place>(words...);
}

} // namespace

#define SIDELIGHT_SERVED(function, name, words)                                                    \
    SIDELIGHT_ENTRY Word function(SIDELIGHT_WORD_PARAMETERS(words))                                \
    {                                                                                              \
        return serve<Place::name>(SIDELIGHT_WORD_NAMES(words));                                    \
    }
#define SIDELIGHT_FRONT(name, words)                                                               \
    SIDELIGHT_ENTRY Word front_##name(SIDELIGHT_WORD_PARAMETERS(words)) asm("MPI_" #name);         \
    SIDELIGHT_ENTRY Word profiled_front_##name(SIDELIGHT_WORD_PARAMETERS(words)) asm(              \
        "PMPI_" #name) __attribute__((alias("MPI_" #name)));                                       \
    SIDELIGHT_SERVED(front_##name, name, words)
#define SIDELIGHT_TRACED_FRONT(name, words) SIDELIGHT_FRONT(name, words)
#define SIDELIGHT_FORTRAN_FRONT(call, name, words) SIDELIGHT_SERVED(name, name, words)
#include "api/front.def"

} // namespace sidelight::api
