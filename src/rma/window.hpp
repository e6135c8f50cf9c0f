// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/cpu.hpp"
#include "base/list.hpp"
#include "base/pool.hpp"
#include "base/status.hpp"
#include "datatype/cursor.hpp"
#include "fabric/remote_memory.hpp"
#include "rma/barrier.hpp"
#include "rma/epoch.hpp"
#include "rma/kinds.hpp"
#include "rma/light_epochs.hpp"
#include "rma/operation.hpp"
#include "rma/region_table.hpp"
#include "rma/target_table.hpp"
#include "rma/wire.hpp"

namespace sidelight::rma {

class Process;

/// A remote origin that has a place in a member's lock queue and is not admitted yet.
struct Waiting {
    int origin = 0;
    LockType type = LockType::shared;
    LockPlace place{};
    Waiting* next = nullptr;
};

/// A long message that is leaving.
struct LongSend : fabric::Completion {
    Process* owner = nullptr;
    class Window* window = nullptr;
    Flight* flight = nullptr;
    LongSend* next = nullptr;
};

/// An operation that the fabric performs on the target's memory.
struct RemoteAccess : fabric::Completion {
    Process* owner = nullptr;
    class Window* window = nullptr;
    Op* op = nullptr;
    datatype::Cursor there{{nullptr, nullptr, 0}}; ///< over offsets in place of addresses
    datatype::Cursor here{{nullptr, nullptr, 0}};
    RemoteAccess* next = nullptr;
};

inline constexpr int all_targets = -1;
inline constexpr auto relaxed = std::memory_order_relaxed;

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
};

/// One window, as one of its members sees it: targets, the queue of epochs, the flushes. The whole
/// protocol runs here; see docs/design/epochs.md.
///
/// Every call is local and returns at once. Where a call takes a Request, it is set complete, now
/// or during a later Process::progress, when the call's MPI counterpart might return; null means
/// that nobody wants to know. A Status other than ok: nothing has happened.
/// Not thread-safe: the caller holds the engine (see Process).
class Window {
public:
    /// Meets the neighbours. Throws std::bad_alloc, also where one of them cannot be met.
    Window(Process& process, const WindowShape& shape);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    /// From now on calls on it may come while another thread is in the library. None may be going
    /// on.
    void expect_threads() noexcept;

    // --- Synchronisation (MPI-4.1, 12.5; nonblocking forms P1, section V) -----------------------
    Status fence(Assertion assertion, Request* request) noexcept;
    Status post(std::span<const int> origins, Request* request) noexcept;
    Status start(std::span<const int> targets, Assertion assertion, Request* request) noexcept;
    Status complete(Request* request) noexcept;
    Status wait(Request* request) noexcept;
    /// MPI_Win_test: closes the exposure epoch if every origin is done with it, or lost: then the
    /// answer is Status::lost.
    Status test(bool& flag) noexcept;
    Status lock(LockType type, int target, Assertion assertion, Request* request) noexcept;
    Status unlock(int target, Request* request) noexcept;
    Status lock_all(Assertion assertion, Request* request) noexcept;
    Status unlock_all(Request* request) noexcept;
    /// `target` may be all_targets.
    Status flush(int target, FlushScope scope, Request* request) noexcept;

    /// Completes when the epoch that is open towards `target` (or towards all) is granted. For
    /// blocking opening calls after which the program may use loads and stores of its own.
    Status await_grant(int target, Request* request) noexcept;

    // --- Operations (MPI-4.1, 12.3) --------------------------------------------------------------
    /// Performs or records an operation. `request` completes when a request-based form would: the
    /// operation is complete at the origin.
    Status issue(const Operation& operation, Request* request) noexcept;

    // --- Dynamic memory (MPI-4.1, 12.2.4): local calls ------------------------------------------
    /// `where`: how peers on this node map it; not set: they cannot.
    Status attach(std::byte* base, std::size_t size,
                  const std::optional<FileRange>& where = std::nullopt) noexcept;
    Status detach(const std::byte* base) noexcept;

    // --- Life ------------------------------------------------------------------------------------
    /// The first step of MPI_Win_free: no epoch may be open (a fence epoch without operations may).
    /// Completes when every epoch is completed and every member has called it; if one is lost, with
    /// Status::lost and without waiting for others. Then nothing of it is read or written any more.
    Status close(Request* request) noexcept;
    /// Whether that is complete, with an error or without: the window may be destroyed.
    [[nodiscard]] bool closed() const noexcept { return is_closed_; }

    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int size() const noexcept { return static_cast<int>(members_); }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// Whether a member is lost: fences and closes end with Status::lost from now on.
    [[nodiscard]] bool broken() const noexcept { return broken_; }
    [[nodiscard]] Flavor flavor() const noexcept { return flavor_; }
    /// What is known of a member; nothing yet where there was no contact.
    [[nodiscard]] const Target& target(int rank) const noexcept { return targets_[rank]; }
    /// The same, met if that has not been done. Needs the engine. Null: memory has run out.
    [[nodiscard]] const Target* look_up(int rank) noexcept
    {
        return meet(rank) == Status::ok ? &targets_[rank] : nullptr;
    }
    /// The keys of the epochs that are opened from now on; those that are open keep theirs.
    void set_reorder(const Reorder& reorder) noexcept { reorder_ = reorder; }

    /// Epochs opened and not yet completed inside, open ones included.
    [[nodiscard]] std::size_t pending_epochs() const noexcept { return pending_; }

    /// Whether a lock has been asked for, or will be, that is not granted yet.
    [[nodiscard]] bool waits_for_lock() const noexcept
    {
        return ungranted_locks_ != 0 || (first_deferred_ != nullptr && locks_open_ != 0);
    }

    /// Members with whom there was contact.
    [[nodiscard]] std::size_t members_met() const noexcept { return met_.size(); }
    /// Memory of this process for the window, without the shared blocks: itself and the pages of
    /// its table that were touched. Not for fast paths.
    [[nodiscard]] std::size_t memory_bytes() const;

    /// One line per pending epoch, for whoever looks for the reason of a wait. Not for fast paths.
    void describe(void (*line)(void* context, const char* text), void* context) const;

private:
    friend class MemberRows;
    friend class Process;
    friend class Barrier;
    friend struct Direct;
    friend struct LightEpochs;

    struct PartRef {
        Epoch* epoch = nullptr;
        std::uint32_t index = 0;
        explicit operator bool() const noexcept { return epoch != nullptr; }
        [[nodiscard]] Part& part() const noexcept { return epoch->parts[index]; }
    };
    struct Flush {
        Request* request = nullptr;
        int target = all_targets;
        FlushScope scope = FlushScope::remote;
        Status status = Status::ok;  ///< why one of its operations was not performed
        std::uint64_t stamp = 0;     ///< age of the last operation before it
        std::uint64_t clock = 0;     ///< operations of epochs closed by then are not its own
        std::uint64_t remaining = 0; ///< operations it still waits for
        Flush* next = nullptr;
    };

    /// What became of an epoch; a completed one is gone.
    enum class Advance : std::uint8_t { none, moved, completed };

    /// The first contact with a member. Answers ok at once where there was one.
    Status meet(int rank) noexcept { return targets_[rank].met ? Status::ok : first_contact(rank); }
    Status first_contact(int rank) noexcept;
    void know_regions(Target& target) noexcept;
    /// The same for a member that something is wanted of.
    Status reach(int rank) noexcept;

    // epoch_queue.cpp: opening, activation, closing, completion
    Epoch* open(EpochKind kind, std::size_t parts) noexcept;
    Status weigh(Target& target, int rank) noexcept;
    Epoch* open_group(EpochKind kind, std::span<const int> ranks) noexcept;
    void opened(Epoch& epoch) noexcept;
    void close_epoch(Epoch& epoch, Request* request) noexcept;
    bool activate_deferred() noexcept;
    [[nodiscard]] bool may_activate(const Epoch& epoch) const noexcept;
    [[nodiscard]] bool held_back(const Epoch& epoch) const noexcept;
    void activate(Epoch& epoch) noexcept;
    void hold_back_later(Epoch& epoch) noexcept;
    void complete_epoch(Epoch& epoch) noexcept;
    void give_back_if_over(Epoch& epoch) noexcept;
    void count(Epoch& epoch) noexcept;
    [[nodiscard]] bool settled(const Epoch& epoch) const noexcept;
    [[nodiscard]] bool access_open() const noexcept
    {
        return group_access_open() || lock_all_ != nullptr || locks_open_ != 0;
    }
    /// By MPI_Win_start.
    [[nodiscard]] bool group_access_open() const noexcept
    {
        return access_ != nullptr || light_access_.is_open();
    }
    [[nodiscard]] bool exposure_open() const noexcept
    {
        return exposure_ != nullptr || light_exposure_.is_open();
    }
    [[nodiscard]] bool fence_in_use() const noexcept
    {
        return fence_ != nullptr && used_.load(relaxed);
    }
    void leave_fence() noexcept;
    Advance advance(Epoch& epoch) noexcept;

    // part.cpp: one epoch towards one peer
    void enter_part(Epoch& epoch, Part& part) noexcept;
    bool poll_grant(Epoch& epoch, Part& part) noexcept;
    [[nodiscard]] bool is_granted(Epoch& epoch, const Part& part) noexcept;
    void replay(Part& part) noexcept;
    /// Lets operations on mapped memory go the direct path, or not any more, and flushes likewise.
    /// Each word gets its final value at once: another thread may look at any moment.
    void open_target(Target& target, bool open, bool flushable) noexcept
    {
        target.reach.store(open && target.mapped ? target.size : 0, std::memory_order_release);
        target.flushable.store(flushable && (target.mapped || target.regions != nullptr),
                               std::memory_order_release);
        if (target.regions != nullptr) [[unlikely]] {
            target.regions->open(open && direct_regions_);
        }
    }
    void set_direct(const Epoch& epoch, const Part& part, bool direct) noexcept;
    void greet(int rank) noexcept;
    bool note_loss(Epoch& epoch, const Part& part) noexcept;
    void grant_exposure(const Part& part) noexcept;
    void take_place(Epoch& epoch, Part& part) noexcept;
    void ask_in_order(Epoch& epoch) noexcept;
    bool finish_part(Epoch& epoch, Part& part) noexcept;
    bool finish_access(Part& part) noexcept;
    bool announce_access(Part& part) noexcept;
    [[nodiscard]] bool exposure_over(const Part& part) noexcept;
    bool finish_fence(Epoch& epoch, const Part& part) noexcept;
    bool finish_lock(const Epoch& epoch, Part& part) noexcept;
    bool announce_unlock(const Epoch& epoch, Part& part) noexcept;
    [[nodiscard]] Target& target_of(const Part& part) noexcept { return targets_[part.rank]; }

    // issue.cpp: operations
    /// Where in the target's memory an operation goes: an offset from `base`, in a dynamic window
    /// an address there; `memory` where that is mapped here.
    struct Place {
        std::size_t address = 0;
        std::byte* memory = nullptr;
        bool mapped = false;
        bool checked = false; ///< all of it is known to be the target's; the fabric may access it
    };
    [[nodiscard]] PartRef find_part(int target) noexcept;
    [[nodiscard]] bool is_open(PartRef where) noexcept;
    Status locate(const Operation& operation, bool granted, Place& place) noexcept;
    Status locate_region(const Operation& operation, std::uint64_t first, std::uint64_t last,
                         Place& place) noexcept;
    Status check(const Operation& operation) const noexcept;
    Status perform(const Operation& operation, std::byte* memory) noexcept;
    Status record(PartRef where, const Operation& operation, const Place& place,
                  Request* request) noexcept;
    void execute(Op& op) noexcept;
    void execute_at(Op& op, const Place& place) noexcept;
    void keep_order_behind(Op& op) noexcept;
    void end_op(Op& op, Status status) noexcept;
    void let_go(Op& op) noexcept;
    void local_complete(Op& op) noexcept;
    void remote_complete(Op& op) noexcept;
    void note_failure(Op& op, Status status) noexcept;
    Status take_failure(Part& part) noexcept;
    void conclude(Request* request, Status status = Status::ok) noexcept;

    // flush.cpp
    Status flush_all(FlushScope scope, Request* request) noexcept;
    Status begin_flush(int target, FlushScope scope, Request* request) noexcept;
    Status add_epoch_to_flush(Epoch& epoch, Flush& flush) noexcept;
    Status add_to_flush(PartRef where, Flush& flush) noexcept;
    void count_down(const Op& op, FlushScope scope) noexcept;
    void order_direct() noexcept;

    // native.cpp: what the fabric performs on the target's memory
    bool access(Op& op, const Place& place) noexcept;
    bool access_at_once(const Operation& operation, Place& place) noexcept;
    fabric::Access access_more(RemoteAccess& access) noexcept;
    static void access_finished(fabric::Completion& self, Status status) noexcept;
    void want_key(Target& target, int rank) noexcept;
    void serve_key(const MessageHeader& header) noexcept;
    void take_key(const Message& message) noexcept;
    void log_roads() const noexcept;

    // remote.cpp: the emulated route, the origin's side
    void send(int target, MessageHeader header, std::span<const std::byte> payload = {}) noexcept;
    Status send_long(int target, MessageHeader header, std::span<const std::byte> payload,
                     fabric::Completion& sent) noexcept;
    void launch(Op& op) noexcept;
    void launch_more(Target& target) noexcept;
    void send_pieces(Flight& flight, Target& target) noexcept;
    void launched(Flight& flight, Target& target) noexcept;
    void send_piece(Flight& flight, Target& target) noexcept;
    void count_piece(Flight& flight, Target& target, MessageHeader& header) noexcept;
    void send_long_piece(Flight& flight, MessageHeader header, std::size_t length) noexcept;
    void send_compare_and_swap(Flight& flight) noexcept;
    static MessageHeader header_of(const Flight& flight) noexcept;
    static void long_piece_sent(fabric::Completion& self, Status status) noexcept;

    // counts.cpp: pieces without answers of their own
    [[nodiscard]] static bool has_performed(const Target& target, std::uint32_t piece) noexcept;
    void ask_all() noexcept;
    void take_performed(const MessageHeader& header) noexcept;
    void count_performed(const MessageHeader& asked, Status status) noexcept;
    void owe(int origin) noexcept;
    bool tell_owed() noexcept;

    // answers.cpp: what comes back
    void refuse(Flight& flight, Status status) noexcept;
    void piece_answered(Flight& flight) noexcept;
    void answer_complete(Flight& flight) noexcept;
    static void refuse_counted(Flight& flight, Status status) noexcept;
    static void note_longs(Target& target, const MessageHeader& header) noexcept;
    [[nodiscard]] Flight* flight_of(const MessageHeader& header) noexcept;
    void take_answer(const Message& message) noexcept;
    static bool take_data(Flight& flight, const Message& message) noexcept;
    [[nodiscard]] static bool asked_for(const Flight& flight, std::uint64_t position,
                                        std::uint64_t bytes) noexcept;
    static datatype::Cursor& answers_at(Flight& flight, std::uint64_t position) noexcept;
    [[nodiscard]] std::byte* place_reply(const MessageHeader& header, std::size_t bytes) noexcept;
    void placed_reply(const MessageHeader& header, std::size_t bytes) noexcept;

    // serve.cpp: what messages ask for
    [[nodiscard]] bool comes_from(int peer, const MessageHeader& header) noexcept;
    void receive(int from, const Message& message) noexcept;
    [[nodiscard]] std::byte* place(int from, const MessageHeader& header,
                                   std::size_t bytes) noexcept;
    void placed(const MessageHeader& header, std::size_t bytes) noexcept;
    void serve_put(const Message& message) noexcept;
    void serve_get(const Message& message) noexcept;
    void serve_accumulate(const Message& message) noexcept;
    void serve_compare_and_swap(const Message& message) noexcept;
    Status combine_here(const MessageHeader& header, const datatype::Buffer& from,
                        const datatype::Buffer& old, const datatype::Buffer& memory) noexcept;
    [[nodiscard]] std::byte* own_memory(std::uint64_t address, std::uint64_t bytes) noexcept;
    [[nodiscard]] MessageHeader answer_to(const MessageHeader& asked, MessageKind kind) noexcept;
    void answer(const MessageHeader& asked, MessageKind kind,
                std::span<const std::byte> payload = {}, Status status = Status::ok) noexcept;
    void answer_accumulate(const MessageHeader& header, Status status) noexcept;
    void answer_long(const MessageHeader& asked, std::span<const std::byte> payload) noexcept;

    // words.cpp: words and places that others cannot write and take themselves
    void receive_word(const MessageHeader& header) noexcept;
    void serve_lock(const MessageHeader& header) noexcept;
    void serve_unlock(const MessageHeader& header) noexcept;
    void serve_done(const MessageHeader& header) noexcept;
    void long_taken(const MessageHeader& header) noexcept;
    void let_words_count(int origin) noexcept;
    bool grant_waiting() noexcept;
    bool admit(const Waiting& waiting) noexcept;
    void leave_lock(Control& control, LockType type) noexcept;
    void publish(const Target& target, std::atomic<std::uint64_t>& word,
                 std::uint64_t value) noexcept;
    void wake_members() noexcept;
    void wake_at_barrier() noexcept;
    [[nodiscard]] bool waits_at_barrier_only() const noexcept;

    // loss.cpp
    void lose(int rank) noexcept;
    void lose_peer(int peer) noexcept;
    bool give_up_lost() noexcept;
    void pass_loss_on(int rank) noexcept;
    void tell_lost(int to, int rank) noexcept;
    void part_from(int rank) noexcept;
    void tell_unmet(int peer) noexcept;
    void abandon_flights(int rank) noexcept;
    void leave_places(int rank) noexcept;
    void leave_broken() noexcept;

    // rows.cpp: accumulates on memory that is mapped here
    [[nodiscard]] ElementSlot* element_slot() noexcept;
    [[nodiscard]] bool rows_possible() const noexcept;
    [[nodiscard]] bool enter_row(int rank, std::size_t bytes) noexcept;
    Status accumulate_here(ReduceOp op, int rank, const datatype::Buffer& origin,
                           const datatype::Buffer& result, const datatype::Buffer& memory) noexcept;
    Status compare_and_swap_here(int rank, const void* origin, const void* compare, void* result,
                                 const datatype::Layout* layout, void* memory) noexcept;

    bool progress() noexcept;
    bool advance_active() noexcept;
    void update_busy() noexcept;
    [[nodiscard]] Control& own() noexcept { return *own_; }
    [[nodiscard]] bool valid_rank(int rank) const noexcept
    {
        return static_cast<std::uint32_t>(rank) < members_;
    }

    // The first line is what the direct path reads (direct_path.hpp).
    Target* first_target_;
    std::uint32_t members_;
    std::atomic<bool> direct_all_{false}; ///< a granted fence epoch: every mapped target is direct
    std::atomic<bool> used_{false};       ///< operations were issued since the last opening call
    std::atomic<bool> unfenced_{false};   ///< plain accesses were made since the last full barrier
    /// Every flush has its barrier: another thread may have reset `unfenced_`, or the processor's
    /// atomic instructions are none.
    bool never_fenced_ = !rmw_is_barrier;
    /// Calls look at a member's regions without the engine: no other thread looks up new ones.
    bool direct_regions_ = false;
    /// Of the thread that calls, where that is always the same one; null: ask `element_slot`.
    ElementSlot* direct_slot_ = nullptr;

    Process& process_;
    Members& who_;
    std::uint64_t id_;
    int rank_;
    Flavor flavor_;
    bool one_node_;
    Reorder reorder_;
    TargetTable targets_;
    std::span<const std::int32_t> neighbours_;
    std::vector<const ElementSlots*> element_slots_; ///< theirs
    Control* own_;
    Barrier barrier_;
    std::uint64_t barriers_ = 0;          ///< fence calls and closes so far
    std::optional<RegionTable> attached_; ///< dynamic window: by this member
    std::vector<std::unique_ptr<MappedRegions>> mapped_regions_;
    std::vector<std::unique_ptr<fabric::RemoteMemory>> opened_; ///< memory of other members
    std::unique_ptr<fabric::ExposedMemory> exposed_; ///< this member's, since somebody asked

    std::uint64_t clock_ = 0;      ///< openings and closings so far
    std::uint64_t ages_ = 0;       ///< operations so far that were recorded or moved by the fabric
    std::uint64_t waited_for_ = 0; ///< up to that age they were flushed, or their epoch was closed
    std::size_t unfinished_ = 0;   ///< operations recorded or in flight now
    std::size_t pending_ = 0;
    std::size_t unsettled_ = 0;         ///< active epochs that need progress
    std::uint64_t ungranted_locks_ = 0; ///< active epochs that wait for a lock
    bool broken_ = false;               ///< a member is lost
    int first_lost_ = 0;                ///< the first member to give up, by rank + 1
    int lost_ = 0;                      ///< members lost so far
    std::vector<std::int32_t> met_;     ///< members with whom there was contact
    bool busy_ = false;                 ///< in the process's list of windows that need progress
    Links<Window> in_busy_{};
    Epoch* first_deferred_ = nullptr;
    List<Epoch, &Epoch::in_queue> queue_;
    List<Epoch, &Epoch::in_closed> closed_[epoch_classes];
    std::size_t holding_back_ = 0; ///< epochs in `closed_`
    Epoch* fence_ = nullptr;       ///< the epochs open at application level
    Epoch* access_ = nullptr;
    Epoch* exposure_ = nullptr;
    LightGroup light_access_; ///< in place of those two
    LightGroup light_exposure_;
    Epoch* lock_all_ = nullptr;
    std::size_t locks_open_ = 0;
    Fifo<Flush> flushes_;
    Pool<Flush> flush_pool_;

    Fifo<Waiting> waiting_;
    int first_unasked_ = 0;       ///< the first member to ask what it has performed, by rank + 1
    int first_owed_ = 0;          ///< the first member to tell, by rank + 1
    bool closing_ = false;        ///< it is being freed
    bool is_closed_ = false;      ///< and nothing is left to wait for
    std::size_t lent_ = 0;        ///< long answers that are leaving, read from this member's memory
    std::size_t placing_ = 0;     ///< long messages whose data are being written here
    std::size_t untold_ = 0;      ///< parts with a failure that nobody has told of yet
    Status failure_ = Status::ok; ///< the same of an operation whose epoch was over already
};

} // namespace sidelight::rma
