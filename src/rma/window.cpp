// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <new>

#include "rma/process.hpp"

namespace sidelight::rma {

Window::Window(Process& process, const WindowShape& shape)
    : members_(static_cast<std::uint32_t>(shape.size)),
      process_(process),
      who_(*shape.members),
      id_(shape.id),
      rank_(shape.rank),
      flavor_(shape.flavor),
      one_node_(shape.barrier.one_node()),
      reorder_(shape.reorder),
      targets_(members_),
      neighbours_(shape.neighbours),
      barrier_(*this, shape.barrier, shape.neighbours.size(), shape.rank)
{
    first_target_ = &targets_[0];
    for (const std::int32_t neighbour : neighbours_) {
        if (meet(neighbour) != Status::ok) {
            throw std::bad_alloc();
        }
        element_slots_.push_back(&targets_[neighbour].control->elements);
    }
    own_ = targets_[rank_].control;
    if (flavor_ == Flavor::dynamic) {
        attached_.emplace(own_->regions, process_.memory_);
    }
    own_->allows_rows.store(process.allows_rows(), std::memory_order_release);
    direct_slot_ = own_->elements.data();
    direct_regions_ = !process.threaded();
    unfenced_.store(never_fenced_, relaxed);
    if (process.threaded()) {
        expect_threads();
    }
}

void Window::expect_threads() noexcept
{
    direct_slot_ = nullptr;
    never_fenced_ = true;
    unfenced_.store(true, relaxed);
}

Status Window::first_contact(int rank) noexcept
{
    Member member;
    if (Status status = who_.find(rank, member); status != Status::ok) {
        return status;
    }
    try {
        met_.push_back(rank);
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    Target& target = targets_[rank];
    target.base = member.base;
    target.size = member.size;
    target.disp_unit = member.disp_unit;
    target.control = member.control;
    target.peer = member.peer;
    target.bell = process_.fabric_.bell_of(member.peer);
    target.mapped = member.mapped;
    target.remote = member.remote;
    target.met = true;
    if (flavor_ == Flavor::dynamic && rank != rank_ && target.control != nullptr) {
        know_regions(target);
    }
    if (process_.lost_peers_.contains(member.peer)) {
        lose(rank);
    }
    return Status::ok;
}

Status Window::reach(int rank) noexcept
{
    const Status status = meet(rank);
    return status == Status::ok && targets_[rank].lost ? Status::lost : status;
}

Window::~Window()
{
    log_roads();
    opened_.clear();
    if (exposed_ != nullptr) {
        process_.fabric_.conceal(*exposed_);
    }
    if (busy_) {
        process_.busy_windows_.remove(this);
        process_.note_busy();
    }
}

std::size_t Window::memory_bytes() const
{
    constexpr std::size_t page = 4096;
    std::vector<std::size_t> pages;
    for (const std::int32_t rank : met_) {
        pages.push_back(static_cast<std::size_t>(rank) * sizeof(Target) / page);
    }
    std::sort(pages.begin(), pages.end());
    const auto touched = std::unique(pages.begin(), pages.end()) - pages.begin();
    return sizeof(Window) + met_.capacity() * sizeof met_[0] +
           static_cast<std::size_t>(touched) * page;
}

bool Window::progress() noexcept
{
    bool moved = give_up_lost();
    moved |= advance_active();
    moved |= grant_waiting();
    if (closing_) {
        ask_all();
    }
    while (activate_deferred()) {
        moved = true;
        advance_active();
    }
    return moved | tell_owed();
}

bool Window::advance_active() noexcept
{
    bool moved = false;
    Epoch* epoch = queue_.front();
    while (epoch != first_deferred_) {
        Epoch* next = decltype(queue_)::after(*epoch);
        moved |= advance(*epoch) != Advance::none;
        epoch = next;
    }
    return moved;
}

void Window::update_busy() noexcept
{
    const bool busy = unsettled_ != 0 || first_lost_ != 0 || first_owed_ != 0 ||
                      first_deferred_ != nullptr || !waiting_.empty();
    if (busy == busy_) {
        return;
    }
    busy_ = busy;
    if (busy) {
        process_.busy_windows_.push(this);
    } else {
        process_.busy_windows_.remove(this);
    }
    process_.note_busy();
}

/// Writes a word of this member's in the target's block.
void Window::publish(const Target& target, std::atomic<std::uint64_t>& word,
                     std::uint64_t value) noexcept
{
    if (target.bell != nullptr) {
        target.bell->publish(word, value);
    } else {
        word.exchange(value, std::memory_order_seq_cst);
        process_.fabric_.wake(target.peer);
    }
}

void Window::wake_members() noexcept
{
    for (const std::int32_t neighbour : neighbours_) {
        if (neighbour != rank_) {
            process_.fabric_.wake(targets_[neighbour].peer);
        }
    }
}

/// Those who wait for other things as well sleep at doorbells of their own.
void Window::wake_at_barrier() noexcept
{
    process_.fabric_.wake_all(barrier_.shape().word->bell);
    wake_members();
}

/// Whether nothing but a barrier of this node can let its epochs go on.
bool Window::waits_at_barrier_only() const noexcept
{
    if (!one_node_ || !waiting_.empty() || pending_ == 0) {
        return false;
    }
    for (const Epoch* epoch = queue_.front(); epoch != nullptr;
         epoch = decltype(queue_)::after(*epoch)) {
        if (epoch->kind != EpochKind::fence) {
            return false;
        }
    }
    return !queue_.empty();
}

Status Window::close(Request* request) noexcept
{
    if (access_open() || exposure_open() || fence_in_use()) {
        return Status::rma_sync;
    }
    Epoch* last = open(EpochKind::fence, 1);
    if (last == nullptr) {
        return Status::no_memory;
    }
    leave_fence();
    last->barrier_in = ++barriers_;
    last->last = true;
    closing_ = true;
    ask_all();
    opened(*last);
    close_epoch(*last, request);
    return Status::ok;
}

/// Without memory for it, operations on what it attaches travel as messages.
void Window::know_regions(Target& target) noexcept
{
    try {
        mapped_regions_.push_back(std::make_unique<MappedRegions>(target.control->regions,
                                                                  process_.memory_, target.latest));
        target.regions = mapped_regions_.back().get();
    } catch (const std::bad_alloc&) {
        target.regions = nullptr;
    }
}

Status Window::attach(std::byte* base, std::size_t size,
                      const std::optional<FileRange>& where) noexcept
{
    return attached_ ? attached_->attach(base, size, where) : Status::rma_flavor;
}

Status Window::detach(const std::byte* base) noexcept
{
    return attached_ ? attached_->detach(base) : Status::rma_flavor;
}

void Window::describe(void (*line)(void* context, const char* text), void* context) const
{
    static constexpr const char* kinds[] = {"fence", "access", "exposure", "lock", "lock_all"};
    static constexpr const char* states[] = {"deferred, open", "deferred, closed", "active, open",
                                             "active, closed", "completed"};
    for (int rank = 0; rank < size(); ++rank) {
        if (target(rank).light == Light::lock) {
            char text[80];
            std::snprintf(text, sizeof text,
                          "window %" PRIx64 " rank %d: holds the lock of rank %d", id_, rank_,
                          rank);
            line(context, text);
        }
    }
    for (const EpochKind kind : {EpochKind::access, EpochKind::exposure}) {
        const LightGroup& group = kind == EpochKind::access ? light_access_ : light_exposure_;
        if (group.is_open()) {
            char text[80];
            std::snprintf(text, sizeof text,
                          "window %" PRIx64 " rank %d: %s epoch, light, open, %zu peers", id_,
                          rank_, kinds[static_cast<int>(kind)], group.peers().size());
            line(context, text);
        }
    }
    for (const Epoch* epoch = queue_.front(); epoch != nullptr;
         epoch = decltype(queue_)::after(*epoch)) {
        int waits_for = -1;
        std::size_t outstanding = 0;
        for (const Part& part : epoch->parts) {
            outstanding += part.outstanding;
            if (waits_for < 0 && !(epoch->open() ? part.granted : part.done)) {
                waits_for = part.rank;
            }
        }
        char text[160];
        std::snprintf(text, sizeof text,
                      "window %" PRIx64 " rank %d: %s epoch, %s, %u of %zu peers granted, %u done, "
                      "%zu operations outstanding, first waits for rank %d",
                      id_, rank_, kinds[static_cast<int>(epoch->kind)],
                      states[static_cast<int>(epoch->state)], epoch->parts_granted,
                      epoch->parts.size(), epoch->parts_done, outstanding, waits_for);
        line(context, text);
    }
}

} // namespace sidelight::rma
