// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/notifications.hpp"

#include <algorithm>
#include <new>

namespace sidelight::rma {

Notifications::~Notifications()
{
    for (const Opened& opened : opened_) {
        if (opened.data != nullptr) {
            memory_.unmap(opened.data, opened.where);
        }
    }
}

bool Notifications::map(Opened& opened, NotificationRoot& root) noexcept
{
    if (opened.data != nullptr) {
        memory_.unmap(opened.data, opened.where);
    }
    opened.set = root.set.load(std::memory_order_acquire);
    opened.where = {unpacked_file(root.process.load(std::memory_order_acquire),
                                  root.inode.load(std::memory_order_acquire)),
                    root.offset.load(std::memory_order_acquire),
                    NotificationSet::unpacked(opened.set).number * sizeof(NotificationCounter)};
    opened.data = memory_.map(opened.where);
    return opened.data != nullptr;
}

/// The counters of a member on this node, mapped; null: they cannot be.
Notifications::Opened* Notifications::open(int rank, NotificationRoot& root) noexcept
{
    auto found = std::lower_bound(opened_.begin(), opened_.end(), rank,
                                  [](const Opened& one, int other) { return one.rank < other; });
    if (found == opened_.end() || found->rank != rank) {
        try {
            found = opened_.insert(found, Opened{.rank = rank});
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }
    const bool newest =
        found->data != nullptr && found->set == root.set.load(std::memory_order_acquire);
    return newest || map(*found, root) ? &*found : nullptr;
}

Status Notifications::check(int rank, std::uint32_t index) noexcept
{
    Control* control = contacts_.peer(rank).control;
    if (control == nullptr) {
        return index < NotificationCounters::most ? Status::ok : Status::rma_notification;
    }
    NotificationRoot& root = control->notifications;
    const auto set = NotificationSet::unpacked(root.set.load(std::memory_order_acquire));
    if (index >= set.number) {
        return Status::rma_notification;
    }
    const bool reachable = rank == contacts_.rank() || open(rank, root) != nullptr;
    return reachable ? Status::ok : Status::no_memory;
}

void Notifications::raise(int rank, std::uint32_t index) noexcept
{
    if (rank == contacts_.rank()) {
        own_.raise(index);
        return;
    }
    Opened* opened = open(rank, contacts_.peer(rank).control->notifications);
    if (opened == nullptr) {
        return; // gone since it was checked, which the program has not waited for
    }
    auto* counters = reinterpret_cast<NotificationCounter*>(opened->data);
    counters[index].fetch_add(1, std::memory_order_seq_cst);
    contacts_.wake(rank);
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
        const std::uint64_t set = control->notifications.set.load(std::memory_order_acquire);
        *number = NotificationSet::unpacked(set).number;
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
