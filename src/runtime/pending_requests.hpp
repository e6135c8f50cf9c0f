// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "host/mpi/declarations.hpp"
#include "host/mpi/handle_bits.hpp"

namespace sidelight::runtime {

class NonblockingRequest;

/// The requests that the program has and that were not complete when it got them, by their handles:
/// those of the last few hundred, each until it completes or its place is another's.
class PendingRequests {
public:
    /// Whether the program has ever had one, or one that had failed. Any thread.
    [[nodiscard, gnu::always_inline]] bool any() const noexcept
    {
        return any_.load(std::memory_order_relaxed);
    }
    /// Whether this is likely one of them. Any thread, without the engine: `find` answers for
    /// certain.
    [[nodiscard, gnu::always_inline]] bool may_have(const MPI_Request* handle) const noexcept
    {
        return any() && handle != nullptr && *handle != none &&
               places_[place_of(*handle)].handle.load(std::memory_order_relaxed) == *handle;
    }

    // The rest needs the engine.

    void add(MPI_Request handle, NonblockingRequest& request) noexcept
    {
        note_one();
        set(places_[place_of(handle)], handle, &request);
    }
    /// One that had failed when the program got it.
    void note_one() noexcept { any_.store(true, std::memory_order_relaxed); }
    /// Null: it is not one of them.
    [[nodiscard]] NonblockingRequest* find(MPI_Request handle) noexcept
    {
        const Place& place = places_[place_of(handle)];
        return place.handle.load(std::memory_order_relaxed) == handle ? place.request : nullptr;
    }
    /// Does nothing if its place is another's.
    void remove(MPI_Request handle, const NonblockingRequest& request) noexcept
    {
        Place& place = places_[place_of(handle)];
        if (place.request == &request) {
            set(place, none, nullptr);
        }
    }

private:
    struct Place {
        std::atomic<MPI_Request> handle{none}; ///< written with the engine; relaxed: a hint
        NonblockingRequest* request = nullptr;
    };

    static constexpr MPI_Request none{}; ///< no host has a request of that name
    static constexpr unsigned place_bits = 8;

    static std::size_t place_of(MPI_Request handle) noexcept
    {
        return (host::mpi::bits_of(handle) * 0x9E3779B97F4A7C15U) >> (64 - place_bits);
    }
    static void set(Place& place, MPI_Request handle, NonblockingRequest* request) noexcept
    {
        place.request = request;
        place.handle.store(handle, std::memory_order_relaxed);
    }

    std::atomic<bool> any_{false}; ///< most programs have none
    std::array<Place, std::size_t{1} << place_bits> places_{};
};

} // namespace sidelight::runtime
