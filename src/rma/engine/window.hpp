// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/list.hpp"
#include "base/shared_memory.hpp"
#include "rma/attention.hpp"
#include "rma/epoch/flush.hpp"
#include "rma/epoch/settled_epochs.hpp"
#include "rma/members.hpp"

namespace sidelight::rma {

struct SharedParts;
struct WindowParts;

/// Everything a new window is made of. The memory belongs to the caller and outlives the window.
struct WindowShape {
    std::uint64_t id = 0; ///< the same on all members, and no other window's, ever
    int rank = 0;         ///< of this process
    int size = 0;         ///< members
    Flavor flavor = Flavor::allocate;
    Members* members = nullptr;
    std::span<const std::int32_t> neighbours; ///< ranks on this node, this process among them
    BarrierShape barrier;
    Reorder reorder{};
    std::size_t early_return = 0;    ///< bytes that may be kept; 0: no call returns early
    bool calls_for_events = true;    ///< what happens in it calls the process for what is recorded
    bool offers = false;             ///< who waits performs what computing origins offer
    bool no_exclusive_locks = false; ///< the program will ask for none; the same on all members
    bool active_at_target = false;   ///< handlers run there alone; the same on all members
    bool meets_at_end = false;       ///< see close_at_end; the same on all members
};

/// One window, as one of its members sees it: a façade over the parts that each own one concern
/// (engine/window_parts.hpp). See docs/design/epochs.md.
///
/// Every call is local and returns at once. Where a call takes a Request, it is set complete, now
/// or during a later Process::progress, when the call's MPI counterpart might return; null means
/// that nobody wants to know. A Status other than ok: nothing has happened. `polls`: how often the
/// call may look for what quick peers do before it leaves the rest to the sweeps.
/// Not thread-safe: the caller holds the engine (see Process), but for what `mapped` answers.
class alignas(64) Window final : public Attention {
public:
    /// Meets the neighbours. Throws std::bad_alloc, also where one of them cannot be met.
    Window(SharedParts& shared, const WindowShape& shape);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    /// The direct path of operations and flushes.
    [[nodiscard]] Mapped& mapped() noexcept { return mapped_; }
    /// The shortest way of calls that open and close epochs; those below try it first. Needs the
    /// engine.
    [[nodiscard]] SettledEpochs& settled() noexcept { return settled_; }

    // --- Synchronisation (MPI-4.1, 12.5; nonblocking forms P1, section V) -----------------------
    /// `waits`: the call waits for the request. What others can do for one that does not is offered
    /// to them.
    Status fence(Assertion assertion, Request* request, bool waits = false, int polls = 0) noexcept;
    Status post(std::span<const int> origins, Request* request) noexcept;
    Status start(std::span<const int> targets, Assertion assertion, Request* request,
                 int polls = 0) noexcept;
    /// `may_return_early`: for a call that waits for the request, which then completes as soon as
    /// what is left of the epoch is kept for late targets, if that may be.
    Status complete(Request* request, bool may_return_early = false, int polls = 0) noexcept;
    /// `waits`: as in `fence`.
    Status wait(Request* request, int polls = 0, bool waits = false) noexcept;
    /// MPI_Win_test: closes the exposure epoch if every origin is done with it, or lost: then the
    /// answer is Status::lost.
    Status test(bool& flag) noexcept;
    /// `grant_waited`: in a program with threads the calling one waits until it has the lock, and
    /// holds up no other one meanwhile.
    [[gnu::always_inline]] Status lock(LockType type, int target, Assertion assertion,
                                       Request* request, bool grant_waited = false) noexcept
    {
        if (assertion.no_check || assertion.concurrent || !settled_.lock(type, target))
            [[unlikely]] {
            return lock_by_queue(type, target, assertion, request, grant_waited);
        }
        finish(request);
        return Status::ok;
    }
    /// `waits`: as in `fence`.
    [[gnu::always_inline]] Status unlock(int target, Request* request, bool waits = false) noexcept
    {
        if (!settled_.unlock(target)) [[unlikely]] {
            return unlock_by_queue(target, request, waits);
        }
        finish(request);
        return Status::ok;
    }
    Status lock_all(Assertion assertion, Request* request, bool grant_waited = false) noexcept;
    Status unlock_all(Request* request, bool waits = false) noexcept;
    /// `target` may be all_targets. `thread`: whose operations it is about; else the process's.
    Status flush(int target, FlushScope scope, Request* request,
                 ThreadNumber thread = no_thread) noexcept;

    /// Completes when the epoch that is open towards `target` (or towards all) is granted by all
    /// its members; when the others are lost, which its closing call tells; or when the locks are
    /// given back. At most one request waits for an epoch.
    Status await_grant(int target, Request* request) noexcept;

    // --- Operations (MPI-4.1, 12.3) --------------------------------------------------------------
    /// Performs or records an operation. `request` completes when a request-based form would: the
    /// operation is complete at the origin, or at the target, as its `request_scope` has it.
    Status issue(const Operation& operation, Request* request) noexcept;

    // --- Dynamic memory (MPI-4.1, 12.2.4): local calls ------------------------------------------
    /// `where`: how peers on this node map it; not set: they cannot.
    Status attach(std::byte* base, std::size_t size,
                  const std::optional<FileRange>& where = std::nullopt) noexcept;
    /// Completes when all who have a key to it have been told, which takes the network alone.
    Status detach(const std::byte* base, Request* request = nullptr) noexcept;

    // --- Life ------------------------------------------------------------------------------------
    /// The first step of MPI_Win_free: no epoch may be open (a fence epoch without operations may).
    /// Completes when every epoch is completed, nothing reads or writes the window's memory any
    /// more, and every member has called it; if one is lost, with Status::lost and without waiting
    /// for the others.
    Status close(Request* request) noexcept;
    /// The same at the end of MPI, whatever is open, where all members come to that: answers
    /// whether it is complete. Called until it is: without memory the next call tries again.
    bool close_at_end() noexcept;
    /// Whether that is complete, with an error or without: the window may be destroyed.
    [[nodiscard]] bool closed() const noexcept;

    /// Another thread may sweep from now on, or several of the program call: see
    /// Process::expect_threads.
    void expect_threads(bool sweeps, bool many) noexcept;
    void set_reorder(const Reorder& reorder) noexcept;

    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// Whether a member is lost: fences and closes end with Status::lost from now on.
    [[nodiscard]] bool broken() const noexcept;
    [[nodiscard]] Flavor flavor() const noexcept { return flavor_; }
    /// What is known of a member; nothing yet where there was no contact.
    [[nodiscard]] const Target& target(int rank) const noexcept;
    /// The same, met if that has not been done. Needs the engine. Null: memory has run out.
    [[nodiscard]] const Target* look_up(int rank) noexcept;
    /// Epochs opened and not yet completed inside, open ones included.
    [[nodiscard]] std::size_t pending_epochs() const noexcept;
    /// Members with whom there was contact.
    [[nodiscard]] std::size_t members_met() const noexcept;
    /// Memory of this process for the window, without the shared blocks: itself, the pages of its
    /// tables that were touched, and the peers of an open lock_all epoch. Not for fast paths.
    [[nodiscard]] std::size_t memory_bytes() const;
    /// One line per pending epoch, for whoever looks for the reason of a wait. Not for fast paths.
    void describe(void (*line)(void* context, const char* text), void* context) const;

    // --- For the process -------------------------------------------------------------------------
    /// One sweep. Answers whether anything moved.
    bool progress() noexcept;
    /// Where to sleep if nothing but a barrier of this node can let it go on; else null.
    [[nodiscard]] Doorbell* barrier_bell() noexcept;
    [[nodiscard]] WindowParts& parts() noexcept { return *parts_; }
    Links<Window> in_busy{}; ///< the process's list of windows that need progress

private:
    void needed(bool needed) noexcept override;
    void log_routes() const noexcept;
    Status lock_by_queue(LockType type, int target, Assertion assertion, Request* request,
                         bool grant_waited) noexcept;
    Status unlock_by_queue(int target, Request* request, bool waits) noexcept;

    Mapped mapped_; ///< first, in a line with what it reads
    SharedParts& shared_;
    std::uint64_t id_;
    int rank_;
    int size_;
    Flavor flavor_;
    bool meets_at_end_;
    bool closing_ = false;
    std::unique_ptr<WindowParts> parts_;
    SettledEpochs settled_;
};

/// Where what happens in it is taken down; not set: nowhere.
[[nodiscard]] const trace::Track& trace_of(Window& window) noexcept;

} // namespace sidelight::rma
