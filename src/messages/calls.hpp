// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "host/mpi/word.hpp"

/// The calls of calls.def and who serves them below this library: libsidelight.so where that takes
/// a call over too, else the host. As there, no exported function takes handles, whose size is not
/// the same in each family of hosts: it takes words (api/entry.hpp).
#if defined(OPEN_MPI)
#define SIDELIGHT_HOST_HAS_PARTITIONS (OMPI_MAJOR_VERSION >= 5)
#define SIDELIGHT_HOST_HAS_LARGE_COUNTS (OMPI_MAJOR_VERSION >= 6)
#else
#define SIDELIGHT_HOST_HAS_PARTITIONS (MPI_VERSION >= 4)
#define SIDELIGHT_HOST_HAS_LARGE_COUNTS (MPI_VERSION >= 4)
#endif

namespace sidelight::messages {

using host::mpi::narrowed;
using host::mpi::Word;

using host::mpi::Named;

/// Of the call that it came with.
using Words = const Word*;

enum class Call : std::size_t {
#define SIDELIGHT_ATTENDED(name, ...) name,
#define SIDELIGHT_POLLED(name, ...) name,
#define SIDELIGHT_STARTED(name, ...) name,
#define SIDELIGHT_MADE(name, ...) name,
#define SIDELIGHT_OF_LIFE(name, ...) name,
#define SIDELIGHT_OF_REQUESTS(name, ...) name,
#include "messages/calls.def"
    count
};

/// Below this library. A call that nobody has gives MPI_ERR_OTHER.
[[nodiscard]] [[gnu::noinline]] Named* find_below(Call call) noexcept;

/// A function of libsidelight.so's that is not MPI's; null where that is not loaded below.
[[nodiscard]] void* find_sidelight(const char* name) noexcept;

/// What our own thread needs of it (api/message_library.cpp).
struct ThreadCalls {
    void (*start)(void (*start)(void*), void* context) = nullptr;
    void (*leave_out)() = nullptr;

    explicit operator bool() const noexcept { return start != nullptr && leave_out != nullptr; }
};
[[nodiscard]] ThreadCalls find_thread_calls() noexcept;

/// The host's own, past libsidelight.so, for our own thread: that library looks after its requests
/// in what it takes over, which is for threads of the program.
using AskStatus = int(MPI_Request, int*, MPI_Status*);
[[nodiscard]] AskStatus* find_status_of_host() noexcept;

/// Whether this request is complete, of a persistent one, whether it is idle.
[[nodiscard]] inline bool is_over(AskStatus& status, MPI_Request request) noexcept
{
    int flag = 0;
    return status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag != 0;
}

namespace detail {

/// Relaxed: whoever finds none looks it up, to the same end.
inline std::array<std::atomic<Named*>, static_cast<std::size_t>(Call::count)> below{};

} // namespace detail

[[gnu::always_inline]] inline Named* below(Call call) noexcept
{
    auto& place = detail::below[static_cast<std::size_t>(call)];
    Named* found = place.load(std::memory_order_relaxed);
    if (found == nullptr) [[unlikely]] {
        found = find_below(call);
        place.store(found, std::memory_order_relaxed);
    }
    return found;
}

/// Hands a call on.
template <class... Arguments>
[[gnu::always_inline]] inline Word hand_on(Call call, Arguments... arguments)
{
    return host::mpi::call_named(below(call), Word(arguments)...);
}

} // namespace sidelight::messages
