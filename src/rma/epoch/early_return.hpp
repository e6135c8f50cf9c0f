// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/list.hpp"
#include "rma/epoch/kind_table.hpp"

namespace sidelight::rma {

/// Who is told when the first epoch of the process returns early, and when the last one of them is
/// complete. Meanwhile no window opens an epoch on a short way, which would ask for nothing.
class EarlyObserver {
public:
    virtual void any_early(bool any) noexcept = 0;
    Links<EarlyObserver> among{};

protected:
    ~EarlyObserver() = default;
};

/// The epochs of all windows of a process whose closing calls have returned early, until they are
/// complete. Guarded by the engine.
class EarlyEpochs {
public:
    explicit EarlyEpochs(KeepingRoom& room) noexcept : room_(room) {}

    [[nodiscard]] KeepingRoom& room() const noexcept { return room_; }
    [[nodiscard]] bool any() const noexcept { return !epochs_.empty(); }
    /// Whether nothing of the process waits but these and one epoch more, and nobody needs its
    /// calls for messages.
    [[nodiscard]] bool all_but_one() const noexcept
    {
        return room_.waiting == size_ + 1 && !room_.serves_messages.load(std::memory_order_relaxed);
    }
    /// So many have returned until now.
    [[nodiscard]] std::uint64_t returned() const noexcept { return returned_; }
    /// The first of them that is not complete, counted from 1; one more than all if there is none.
    [[nodiscard]] std::uint64_t oldest() const noexcept
    {
        return epochs_.empty() ? returned_ + 1 : epochs_.front()->early_at;
    }

    void add(Epoch& epoch) noexcept;
    void remove(Epoch& epoch) noexcept;
    void observe(EarlyObserver& window) noexcept;
    void forget(EarlyObserver& window) noexcept { windows_.remove(&window); }

private:
    void tell(bool any) noexcept;

    KeepingRoom& room_;
    std::uint64_t returned_ = 0;
    std::size_t size_ = 0;
    List<Epoch, &Epoch::in_early> epochs_;
    List<EarlyObserver, &EarlyObserver::among> windows_;
};

/// Whether the closing call of an access may return although targets are late, and what is kept for
/// it then. One for each window. See docs/design/early-return.md. Guarded by the engine.
class EarlyReturn {
public:
    explicit EarlyReturn(const EpochSurroundings& with) noexcept : with_(with) {}

    /// How much the process may keep in all when a call of this window returns; 0: none does.
    void set_limit(std::size_t limit) noexcept { limit_ = limit; }
    /// Whether any call may ever return early. In a dynamic window the target alone knows whether
    /// there is memory, and the closing call tells that.
    [[nodiscard]] bool wanted() const noexcept { return limit_ != 0 && !with_.dynamic; }
    /// Epochs whose calls have returned, and that are not complete.
    [[nodiscard]] std::size_t pending() const noexcept { return pending_; }

    /// If the call of a closed access may return now, keeps what its operations read, and answers
    /// true: then it returns (`let_return`), or waits on. One that never may is asked about no
    /// more.
    [[nodiscard]] bool keep(Epoch& epoch) noexcept;
    /// Whether what is kept in this window is finished by a thread of this process. Else the
    /// targets must be offered it before the call returns.
    [[nodiscard]] bool has_finisher() const noexcept
    {
        const KeepingRoom& room = with_.early.room();
        return !room.program_has_threads && room.others_finish(with_.calls_for_events);
    }
    /// Of one that is kept.
    void let_return(Epoch& epoch) noexcept;
    /// An epoch that has returned early is complete.
    void complete(Epoch& epoch, Status failure) noexcept;

    /// Why one of them has failed, once; `failed`: whether there is anything to take, also asked
    /// without the engine, and then as of some moments ago.
    [[nodiscard]] Status take_failure() noexcept
    {
        return failure_.exchange(Status::ok, std::memory_order_relaxed);
    }
    [[nodiscard]] bool failed() const noexcept
    {
        return failure_.load(std::memory_order_relaxed) != Status::ok;
    }

private:
    [[nodiscard]] std::size_t free_bytes() const noexcept
    {
        const std::size_t used = with_.early.room().used;
        return limit_ > used ? limit_ - used : 0;
    }

    const EpochSurroundings& with_;
    std::size_t limit_ = 0;
    std::size_t pending_ = 0;
    std::atomic<Status> failure_{Status::ok}; ///< written under the engine
};

} // namespace sidelight::rma
