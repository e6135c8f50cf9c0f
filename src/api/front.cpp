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

// No call takes more words; those that a call does not have are not looked at.
#define SIDELIGHT_EACH_WORD(what)                                                                  \
    what a, what b, what c, what d, what e, what f, what g, what h, what i, what j, what k,        \
        what l, what m
using Served = Word(SIDELIGHT_EACH_WORD(Word)) noexcept;

enum class Place : std::size_t {
#define SIDELIGHT_FRONT(name) name,
#define SIDELIGHT_TRACED_FRONT(name) name,
#define SIDELIGHT_FORTRAN_FRONT(call, name) name,
#include "api/front.def"
    count
};

constexpr auto places = static_cast<std::size_t>(Place::count);

} // namespace

// What this library does, as words; entry.hpp has the types.
#define SIDELIGHT_FRONT(name)                                                                      \
    SIDELIGHT_OWN Word words_of_own_##name(SIDELIGHT_EACH_WORD(Word)) noexcept asm("own_" #name);
#define SIDELIGHT_TRACED_FRONT(name) SIDELIGHT_FRONT(name)
#define SIDELIGHT_FORTRAN_FRONT(call, name) SIDELIGHT_FRONT(name)
#include "api/front.def"

namespace {

template <Place place>
Word decide(SIDELIGHT_EACH_WORD(Word)) noexcept;

/// Relaxed: whoever reads an old entry decides once more, to the same end.
std::array<std::atomic<Served*>, places> serving{
#define SIDELIGHT_FRONT(name) &decide<Place::name>,
#define SIDELIGHT_TRACED_FRONT(name) &decide<Place::name>,
#define SIDELIGHT_FORTRAN_FRONT(call, name) &decide<Place::name>,
#include "api/front.def"
};

constexpr std::array<Served*, places> own{
#define SIDELIGHT_FRONT(name) &words_of_own_##name,
#define SIDELIGHT_TRACED_FRONT(name) &words_of_own_##name,
#define SIDELIGHT_FORTRAN_FRONT(call, name) &words_of_own_##name,
#include "api/front.def"
};

constexpr std::array<bool, places> only_traced{
#define SIDELIGHT_FRONT(name) false,
#define SIDELIGHT_TRACED_FRONT(name) true,
#define SIDELIGHT_FORTRAN_FRONT(call, name) false,
#include "api/front.def"
};

constexpr std::array<const char*, places> names_of_host{
#define SIDELIGHT_FRONT(name) "PMPI_" #name,
#define SIDELIGHT_TRACED_FRONT(name) "PMPI_" #name,
#define SIDELIGHT_FORTRAN_FRONT(call, name) #name,
#include "api/front.def"
};

using Find = void*(const char* name) noexcept;

/// Null where the host's function is not to be found, or not yet.
Served* server(std::size_t place, Find* find) noexcept
{
    const bool is_own =
        !only_traced[place] || !settings().trace.empty() || !host::mpi::host_polls_requests();
    if (is_own && host::mpi::fits_host()) {
        return own[place];
    }
    void* found = find(names_of_host[place]);
    return reinterpret_cast<Served*>(
        found != nullptr ? found : host::mpi::in_place_of(names_of_host[place]));
}

bool decide_one(std::size_t place, Find* find) noexcept
{
    Served* found = server(place, find);
    if (found != nullptr) {
        serving[place].store(found, std::memory_order_relaxed);
    }
    return found != nullptr;
}

[[gnu::always_inline]] inline Served* serves(Place place) noexcept
{
    return serving[static_cast<std::size_t>(place)].load(std::memory_order_relaxed);
}

template <Place place>
Word decide(SIDELIGHT_EACH_WORD(Word)) noexcept
{
    for (std::size_t other = 0; other < places; ++other) {
        decide_one(other, host::mpi::find_symbol);
    }
    // What is not found stays undecided: its library may be loaded later.
    if (!decide_one(static_cast<std::size_t>(place), host::mpi::find_anywhere)) {
        return MPI_ERR_OTHER;
    }
    return serves(place)(a, b, c, d, e, f, g, h, i, j, k, l, m);
}

} // namespace

#define SIDELIGHT_SERVED(function, name)                                                           \
    SIDELIGHT_ENTRY Word function(SIDELIGHT_EACH_WORD(Word)) noexcept                              \
    {                                                                                              \
        return serves(Place::name)(a, b, c, d, e, f, g, h, i, j, k, l, m);                         \
    }
#define SIDELIGHT_FRONT(name)                                                                      \
    SIDELIGHT_ENTRY Word front_##name(SIDELIGHT_EACH_WORD(Word)) noexcept asm("MPI_" #name);       \
    SIDELIGHT_ENTRY Word profiled_front_##name(SIDELIGHT_EACH_WORD(Word)) noexcept asm(            \
        "PMPI_" #name) __attribute__((alias("MPI_" #name)));                                       \
    SIDELIGHT_SERVED(front_##name, name)
#define SIDELIGHT_TRACED_FRONT(name) SIDELIGHT_FRONT(name)
#define SIDELIGHT_FORTRAN_FRONT(call, name) SIDELIGHT_SERVED(name, name)
#include "api/front.def"

} // namespace sidelight::api
