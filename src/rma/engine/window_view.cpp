// SPDX-License-Identifier: BSD-3-Clause
#include <cinttypes>
#include <cstdio>

#include "rma/engine/window_parts.hpp"

/// What others may ask of a window: nothing here changes it, but for a first contact.
namespace sidelight::rma {

namespace {

using Line = void (*)(void* context, const char* text);

/// One line about an epoch. A fence epoch has one peer, which stands for all members.
void describe_epoch(const Window& window, const Epoch& epoch, Line line, void* context)
{
    static constexpr const char* states[] = {"deferred, open", "deferred, closed", "active, open",
                                             "active, closed", "completed"};
    const PeerEpoch* first = nullptr; // of those that it waits for
    std::size_t outstanding = 0;
    for (const PeerEpoch& peer : epoch.peers) {
        outstanding += peer.outstanding;
        if (first == nullptr && !(epoch.open() ? peer.granted : peer.done)) {
            first = &peer;
        }
    }
    const bool of_all = epoch.kind == EpochKind::fence;
    char reached[64];
    if (of_all) {
        std::snprintf(reached, sizeof reached, "%s, %s",
                      epoch.peers_granted != 0 ? "granted" : "not granted",
                      epoch.peers_done != 0 ? "done" : "not done");
    } else {
        std::snprintf(reached, sizeof reached, "%u of %zu peers granted, %u done",
                      epoch.peers_granted, epoch.peers.size(), epoch.peers_done);
    }
    char awaited[32] = "waits for nobody";
    if (first != nullptr && of_all) {
        std::snprintf(awaited, sizeof awaited, "waits for all members");
    } else if (first != nullptr) {
        std::snprintf(awaited, sizeof awaited, "first waits for rank %d", first->rank);
    }
    char text[160];
    std::snprintf(text, sizeof text,
                  "window %" PRIx64 " rank %d: %s epoch, %s, %s, %zu operations outstanding, %s",
                  window.id(), window.rank(), row_of(epoch.kind).name,
                  states[static_cast<int>(epoch.state)], reached, outstanding, awaited);
    line(context, text);
}

} // namespace

bool Window::closed() const noexcept { return parts_->queue.closed(); }

bool Window::broken() const noexcept { return parts_->contacts.broken(); }

const Target& Window::target(int rank) const noexcept { return parts_->contacts.target(rank); }

const Target* Window::look_up(int rank) noexcept
{
    return parts_->contacts.meet(rank) == Status::ok ? &parts_->contacts.target(rank) : nullptr;
}

std::size_t Window::pending_epochs() const noexcept { return parts_->queue.pending(); }

std::size_t Window::members_met() const noexcept { return parts_->contacts.met().size(); }

std::size_t Window::memory_bytes() const
{
    const Epoch* to_all = parts_->open.lock_all;
    return sizeof(Window) + sizeof(WindowParts) + parts_->contacts.memory_bytes() +
           (to_all != nullptr ? to_all->peers.capacity() * sizeof(PeerEpoch) : 0);
}

/// Whether nothing but a barrier of this node can let its epochs go on.
Doorbell* Window::barrier_bell() noexcept
{
    const BarrierShape& shape = parts_->barrier.shape();
    const Epoch* epoch = parts_->queue.all().front();
    bool only = shape.one_node() && !parts_->locks.anybody_waits() && !parts_->counters.awaited() &&
                epoch != nullptr && parts_->contacts.peer(rank_).offer == nullptr;
    for (; only && epoch != nullptr; epoch = EpochQueue::All::after(*epoch)) {
        only = epoch->kind == EpochKind::fence;
    }
    return only ? &shape.word->bell : nullptr;
}

/// Epochs that are not in the queue are found where they are open.
void Window::describe(Line line, void* context) const
{
    const OpenEpochs& open = parts_->open;
    for (const Epoch* epoch : {open.fence, open.access, open.exposure, open.lock_all}) {
        if (epoch != nullptr && !epoch->queued) {
            describe_epoch(*this, *epoch, line, context);
        }
    }
    for (int rank = 0; open.locks != 0 && rank < size(); ++rank) {
        const bool met = parts_->contacts.is_met(rank);
        const Epoch* epoch = met ? parts_->contacts.peer(rank).epoch : nullptr;
        if (epoch != nullptr && epoch->kind == EpochKind::lock && !epoch->queued) {
            describe_epoch(*this, *epoch, line, context);
        }
    }
    for (const Epoch* epoch = parts_->queue.all().front(); epoch != nullptr;
         epoch = EpochQueue::All::after(*epoch)) {
        describe_epoch(*this, *epoch, line, context);
    }
}

} // namespace sidelight::rma
