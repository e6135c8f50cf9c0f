// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/epoch/epoch_queue.hpp"
#include "rma/epoch/open_epochs.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

/// Epochs that are granted within the call that opens them, towards members whose blocks are mapped
/// here: most of those on one node. They are epochs of the window's own, kept ready in the state
/// `active_open`, and while nothing is recorded in them opening and closing them needs no queue:
/// they are the numbers that both sides count, and what the direct path reads. Once an operation is
/// recorded in one, or it is closed before its peers are done, it goes on in the queue.
///
/// A call that answers false has changed nothing, and Synchronization does the same by the queue.
/// `polls`: how often it looks for what it needs of its peers. Guarded by the engine.
class SettledEpochs {
public:
    SettledEpochs(const EpochSurroundings& with, EpochQueue& queue, OpenEpochs& open) noexcept
        : targets_(with.contacts.targets()),
          peers_(with.contacts.peers()),
          size_(with.trace ? 0 : with.contacts.size()),
          queue_(queue),
          open_(open),
          with_(with)
    {}
    ~SettledEpochs();
    SettledEpochs(const SettledEpochs&) = delete;
    SettledEpochs& operator=(const SettledEpochs&) = delete;

    [[nodiscard]] bool fence(int polls) noexcept;
    [[nodiscard]] bool post(std::span<const int> origins) noexcept;
    [[nodiscard]] bool wait(int polls) noexcept;
    [[nodiscard]] bool start(std::span<const int> targets, int polls) noexcept;
    [[nodiscard]] bool complete() noexcept;

    [[nodiscard, gnu::always_inline]] bool lock(LockType type, int rank) noexcept
    {
        if (!is_near(rank) || !possible() || open_.access != nullptr || open_.lock_all != nullptr ||
            locks_ == nullptr || !with_.allows(type)) [[unlikely]] {
            return false;
        }
        Peer& peer = peers_[rank];
        if (peer.epoch != nullptr || !peer.control->lock.try_arrive(type)) [[unlikely]] {
            return false;
        }
        Epoch* epoch = locks_;
        locks_ = epoch->next;
        epoch->lock_type = type;
        epoch->peers[0].rank = rank;
        peer.epoch = epoch;
        peer.index = 0;
        ++open_.locks;
        queue_.note_opened();
        with_.mapped.open(targets_[rank], {.reachable = true, .flushable = true});
        return true;
    }

    [[nodiscard, gnu::always_inline]] bool unlock(int rank) noexcept
    {
        if (!is_near(rank)) [[unlikely]] {
            return false;
        }
        Peer& peer = peers_[rank];
        Epoch* epoch = peer.epoch;
        if (epoch == nullptr || epoch->kind != EpochKind::lock || epoch->queued ||
            !epoch->kept_ready || with_.contacts.broken()) [[unlikely]] {
            return false;
        }
        // First: an atomic instruction waits for all stores before it.
        const bool others_wait = peer.control->lock.depart(epoch->lock_type);
        peer.epoch = nullptr;
        --open_.locks;
        queue_.note_completed();
        with_.operations.note_waited_for();
        with_.mapped.open(targets_[rank], {});
        epoch->peers[0].to_be_flushed = false;
        epoch->next = locks_;
        locks_ = epoch;
        if (rules::lets_others_in(others_wait)) [[unlikely]] {
            with_.locks.pass_on(rank,
                                *peer.control); // last: nothing need be kept in registers for it
        }
        return true;
    }

    /// Of each member, where they are few, all near, and nobody holds an exclusive lock.
    [[nodiscard]] bool lock_all() noexcept;
    [[nodiscard]] bool unlock_all() noexcept;

    /// Keeps one more epoch ready for `lock`, where there is none.
    void prepare_lock() noexcept;

private:
    /// Whether an epoch that is opened now would be active at once, and hold nothing back while it
    /// is open.
    [[nodiscard]] bool possible() const noexcept
    {
        return queue_.idle() && open_.fence == nullptr && !with_.contacts.broken();
    }
    /// Whether it is a member that was met, and whose block is mapped here.
    [[nodiscard]] bool is_near(int rank) const noexcept
    {
        return static_cast<std::uint32_t>(rank) < size_ && targets_[rank].accumulates != nullptr;
    }
    /// A shared place of every member; where one is not free, of none.
    [[nodiscard]] bool take_places() noexcept;
    /// Leaves those of the members below `end`.
    void leave_places(std::uint32_t end) noexcept;
    /// One for so many peers, from those kept ready; null: no memory.
    [[nodiscard]] Epoch* take(Epoch*& kept, EpochKind kind, std::size_t peers) noexcept;
    /// Ready for the next call, if there is none yet.
    void keep(Epoch*& kept, Epoch& epoch) noexcept;
    void prepare(Epoch& epoch) noexcept;

    // Of the contacts, so that a call finds its peer by few loads.
    Target* targets_;
    Peer* peers_;
    std::uint32_t size_; ///< 0: a trace is to see each epoch, in the queue
    EpochQueue& queue_;
    OpenEpochs& open_;
    Epoch* locks_ = nullptr; ///< ready, linked by `next`
    Epoch* access_ = nullptr;
    Epoch* exposure_ = nullptr;
    Epoch* lock_all_ = nullptr;
    EpochSurroundings with_;
};

} // namespace sidelight::rma
