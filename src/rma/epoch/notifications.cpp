// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/notifications.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace sidelight::rma {

void Notifications::forget() noexcept
{
    for (const Opened& opened : opened_) {
        (*open_)[opened.rank].store(nullptr, std::memory_order_release);
        if (opened.data != nullptr) {
            memory_.unmap(opened.data, opened.where);
        }
    }
    opened_.clear();
}

/// False: there is no memory to know them.
bool Notifications::keep(Opened opened, NotificationBlock* block) noexcept
{
    try {
        if (open_ == nullptr) {
            open_ = std::make_unique<ZeroedTable<std::atomic<OpenCounters*>>>(contacts_.size());
            direct_.show(contacts_.targets(), open_->data());
        }
        opened.counters = std::make_unique<OpenCounters>();
        opened.counters->block = block;
        if (block->number() <= NotificationBlock::few) {
            opened.counters->times = std::make_unique<std::uint64_t[]>(block->number());
        }
        opened_.push_back(std::move(opened));
    } catch (const std::bad_alloc&) {
        return false;
    }
    const Opened& kept = opened_.back();
    (*open_)[kept.rank].store(kept.counters.get(), std::memory_order_release);
    return true;
}

/// Maps the counters of a member on this node. False: they cannot be.
bool Notifications::open(int rank, NotificationRoot& root) noexcept
{
    if (rank == contacts_.rank()) {
        return keep({.rank = rank}, own_.block());
    }
    const auto number = static_cast<std::uint32_t>(root.number.load(std::memory_order_acquire));
    const FileRange where{unpacked_file(root.process.load(std::memory_order_acquire),
                                        root.inode.load(std::memory_order_acquire)),
                          root.offset.load(std::memory_order_acquire),
                          NotificationBlock::bytes(number)};
    std::byte* data = memory_.map(where);
    if (data == nullptr) {
        return false;
    }
    const bool kept = keep({.rank = rank, .data = data, .where = where},
                           reinterpret_cast<NotificationBlock*>(data));
    if (!kept) {
        memory_.unmap(data, where);
    }
    return kept;
}

void Notifications::open_neighbours() noexcept
{
    for (const int rank : contacts_.neighbours()) {
        if (contacts_.meet(rank) != Status::ok || !contacts_.is_near(rank)) {
            continue;
        }
        NotificationRoot& root = contacts_.peer(rank).control->notifications;
        if (root.number.load(std::memory_order_acquire) != 0 && find(rank) == nullptr) {
            static_cast<void>(open(rank, root)); // else whoever notifies tries again
        }
    }
}

Status Notifications::check(int rank, std::uint32_t index) noexcept
{
    Control* control = contacts_.peer(rank).control;
    if (control == nullptr) {
        return index < NotificationBlock::most ? Status::ok : Status::rma_notification;
    }
    NotificationRoot& root = control->notifications;
    if (index >= root.number.load(std::memory_order_acquire)) {
        return Status::rma_notification;
    }
    const bool reachable = find(rank) != nullptr || open(rank, root);
    return reachable ? Status::ok : Status::no_memory;
}

void Notifications::raise(int rank, std::uint32_t index) noexcept
{
    OpenCounters* counters = find(rank);
    if (counters != nullptr && counters->block->raise(index)) {
        contacts_.wake(rank);
    }
}

Status Notifications::ask(int rank, std::uint32_t* number, Request* request) noexcept
{
    if (!contacts_.is_rank(rank)) {
        return Status::rank;
    }
    if (Status status = contacts_.reach(rank); status != Status::ok) {
        return status;
    }
    if (Control* control = contacts_.peer(rank).control; control != nullptr) {
        const std::uint64_t found = control->notifications.number.load(std::memory_order_acquire);
        *number = static_cast<std::uint32_t>(found);
        finish(request);
        return Status::ok;
    }
    try {
        questions_.push_back({rank, number, request});
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    channels_.send(contacts_.channel(rank), MessageKind::counters, CountersBody{.asks = 1});
    return Status::ok;
}

void Notifications::serve_counters(Channel& from, const CountersBody& body) noexcept
{
    if (body.asks != 0) {
        channels_.send(from, MessageKind::counters, CountersBody{.number = own_.number()});
        return;
    }
    std::erase_if(questions_, [&](const Question& question) {
        if (question.rank == from.rank) {
            *question.number = body.number;
            finish(question.request);
        }
        return question.rank == from.rank;
    });
}

void Notifications::give_up_lost() noexcept
{
    own_.give_up(Status::lost);
    std::erase_if(questions_, [&](const Question& question) {
        const bool lost = contacts_.target(question.rank).lost;
        if (lost) {
            question.request->status = Status::lost;
            finish(question.request);
        }
        return lost;
    });
}

} // namespace sidelight::rma
