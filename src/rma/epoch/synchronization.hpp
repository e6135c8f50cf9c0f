// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "rma/epoch/epoch_queue.hpp"
#include "rma/epoch/open_epochs.hpp"

namespace sidelight::rma {

/// The calls that open and close epochs. Each checks what is open at application level, opens or
/// closes an epoch, and leaves the rest to the queue. What they promise: engine/window.hpp. Guarded
/// by the engine.
class Synchronization {
public:
    Synchronization(const EpochSurroundings& with, EpochQueue& queue, OpenEpochs& open,
                    Flavor flavor) noexcept
        : with_(with), queue_(queue), open_(open), flavor_(flavor)
    {}

    Status fence(Assertion assertion, Request* request, bool waits, int polls) noexcept;
    /// A barrier for calls that are no synchronisation: as a fence, but it leaves open what it
    /// finds so. The caller waits.
    Status meet(Request* request) noexcept;
    Status post(std::span<const int> origins, Request* request) noexcept;
    Status start(std::span<const int> targets, Assertion assertion, Request* request,
                 int polls) noexcept;
    Status complete(Request* request, bool may_return_early, int polls) noexcept;
    Status wait(Request* request, int polls, bool waits) noexcept;
    Status test(bool& flag) noexcept;
    Status lock(LockType type, int target, Assertion assertion, Request* request,
                bool grant_waited) noexcept;
    Status unlock(int target, Request* request, bool waits) noexcept;
    Status lock_all(Assertion assertion, Request* request, bool grant_waited) noexcept;
    Status unlock_all(Request* request, bool waits) noexcept;
    Status await_grant(int target, Request* request) noexcept;

    /// The first step of MPI_Win_free. `whatever_is_open`: at the end of MPI.
    Status close(Request* request, bool whatever_is_open) noexcept;

private:
    /// Whether operations make the open fence epoch one (MPI-4.1, 12.5.1).
    [[nodiscard]] bool fence_in_use() const noexcept
    {
        return open_.fence != nullptr && with_.mapped.fence_used();
    }
    void leave_fence() noexcept;
    [[nodiscard]] Epoch* take_group(EpochKind kind, std::span<const int> ranks) noexcept;
    template <class RankOf>
    [[nodiscard]] Epoch* take_group(EpochKind kind, std::size_t size, RankOf rank_of) noexcept;
    void open_for_operations(Epoch& epoch, int polls = 0) noexcept;
    void close_for_operations(Epoch*& epoch, Request* request, int polls, bool waits) noexcept;
    [[nodiscard]] Epoch* take_fence() noexcept;

    EpochSurroundings with_;
    EpochQueue& queue_;
    OpenEpochs& open_;
    Flavor flavor_;
};

} // namespace sidelight::rma
