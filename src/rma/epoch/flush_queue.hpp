// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rma/kinds.hpp"
#include "rma/request.hpp"

namespace sidelight::rma {

inline constexpr int all_targets = -1;

/// A condition on the operations issued before it (P1, VI and VII.C).
struct Flush {
    Request* request = nullptr;
    int target = all_targets;
    FlushScope scope = FlushScope::remote;
    ThreadNumber thread = no_thread;
    Status status = Status::ok; ///< why one of its operations was not performed
    std::size_t waits_in = 0;   ///< queues
    Flush* next = nullptr;      ///< in its pool
};

/// The flushes of one scope and one thread that wait in one PeerEpoch, in the order of their
/// stamps. Each has a count of the operations that it waits for and those before it do not. So an
/// operation that moves on lowers one count, and a flush is over there when its own and all before
/// it are zero. Guarded by the engine.
class FlushQueue {
public:
    explicit FlushQueue(ThreadNumber thread) noexcept : thread_(thread) {}

    [[nodiscard]] ThreadNumber thread() const noexcept { return thread_; }
    /// For one more flush. False: no memory.
    [[nodiscard]] bool make_room() noexcept { return waiting() < room_ || grow(); }
    /// There is room. `stamp`: the age of the last operation before it; `operations`: those that it
    /// waits for here, whoever else does.
    void push(Flush& flush, std::uint64_t stamp, std::uint32_t operations) noexcept;
    /// An operation of that age has moved on, or failed. Answers whether a flush has waited for it:
    /// that one and those that are behind it now tell the failure.
    bool count_down(std::uint64_t age, Status failure) noexcept;
    [[nodiscard]] bool is_first_over() const noexcept
    {
        return waiting() != 0 && place(0).operations == 0;
    }
    /// Takes it out, with what it has to tell.
    Flush& take_first() noexcept;

    std::unique_ptr<FlushQueue> next{}; ///< of the same PeerEpoch and scope

private:
    struct Place {
        Flush* flush;
        std::uint64_t stamp;
        std::uint32_t operations;  ///< between the stamp before it and its own, still to be counted
        Status failure;            ///< of one of them, or of one that a flush before it waited for
        std::uint32_t told_before; ///< from here on the flushes before that number tell it
    };

    static void tell(Place& place, Status failure, std::uint32_t before) noexcept;

    [[nodiscard]] std::uint32_t waiting() const noexcept { return end_ - first_; }
    [[nodiscard]] Place& place(std::uint32_t index) const noexcept
    {
        return places_[(first_ + index) & (room_ - 1)];
    }
    bool grow() noexcept;

    static constexpr std::uint32_t most_kept = 1024;

    std::unique_ptr<Place[]> places_{}; ///< a ring, kept from use to use while it is no larger
    std::uint32_t room_ = 0;            ///< its size, a power of two
    std::uint32_t first_ = 0;           ///< flushes that were over, of all that were pushed
    std::uint32_t end_ = 0;             ///< those that were pushed
    std::uint32_t operations_ = 0;      ///< of all places
    ThreadNumber thread_;
};

} // namespace sidelight::rma
