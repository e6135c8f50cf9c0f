// SPDX-License-Identifier: BSD-3-Clause
#include "rma/light_epochs.hpp"

#include "base/cpu.hpp"
#include "rma/process.hpp"
#include "rma/window.hpp"

namespace sidelight::rma {

namespace {

/// Whether `holds` within so many polls. Takes off those that it needed.
template <class Condition>
bool poll(int& polls, Condition holds) noexcept
{
    while (!holds()) {
        if (--polls < 0) {
            return false;
        }
        relax_cpu();
    }
    return true;
}

} // namespace

inline bool LightEpochs::possible(const Window& window, std::span<const int> peers) noexcept
{
    return rules::may_be_light(window.holding_back_, window.first_deferred_ != nullptr) &&
           window.fence_ == nullptr && !window.broken_ && peers.size() <= LightGroup::most_peers;
}

bool LightEpochs::post(Window& window, std::span<const int> origins) noexcept
{
    if (window.exposure_open() || !possible(window, origins)) {
        return false;
    }
    for (const int rank : origins) {
        if (window.first_target_[rank].control == nullptr) {
            return false;
        }
    }
    window.light_exposure_.open();
    ++window.pending_;
    for (const int rank : origins) {
        Target& origin = window.first_target_[rank];
        window.light_exposure_.add(rank);
        // Pairs with the acquire in `start` and in `is_granted` at the origin.
        window.publish(origin, origin.control->words(window.rank_).granted, ++origin.exposures);
    }
    return true;
}

bool LightEpochs::start(Window& window, std::span<const int> targets, int polls) noexcept
{
    if (window.access_open() || !possible(window, targets)) {
        return false;
    }
    for (const int rank : targets) {
        const Target& target = window.first_target_[rank];
        const auto& granted = window.own().words(rank).granted;
        if (target.control == nullptr || !poll(polls, [&] {
                return rules::light_access_granted(target.accesses + 1,
                                                   granted.load(std::memory_order_acquire));
            })) {
            return false;
        }
    }
    window.light_access_.open();
    ++window.pending_;
    for (const int rank : targets) {
        Target& target = window.first_target_[rank];
        window.light_access_.add(rank);
        ++target.accesses;
        target.light = Light::access;
        window.open_target(target, true, false);
    }
    return true;
}

bool LightEpochs::complete(Window& window) noexcept
{
    return window.light_access_.is_open() && !window.broken_ && end_access(window) == Status::ok;
}

Status LightEpochs::end_access(Window& window) noexcept
{
    Status status = Status::ok;
    window.light_access_.close();
    --window.pending_;
    window.waited_for_ = window.ages_;
    for (const int rank : window.light_access_.peers()) {
        Target& target = window.first_target_[rank];
        target.light = Light::none;
        window.open_target(target, false, false);
        target.done = target.accesses;
        // Orders every transfer of the epoch before it; pairs with the acquire in `wait` and in
        // `exposure_over` at the target.
        window.publish(target, target.control->words(window.rank_).done, target.done);
        if (target.lost) {
            status = Status::lost;
        }
    }
    return status;
}

/// With the numbers that it has; active and granted, so that nothing is left to be counted.
Epoch* LightEpochs::make_full(Window& window, EpochKind kind, const LightGroup& group) noexcept
{
    const std::span<const int> peers = group.peers();
    Epoch* epoch = window.open(kind, peers.size());
    if (epoch == nullptr) {
        return nullptr;
    }
    for (std::size_t index = 0; index < peers.size(); ++index) {
        const Target& peer = window.first_target_[peers[index]];
        Part& part = epoch->parts[index];
        part.rank = peers[index];
        part.number = kind == EpochKind::access ? peer.accesses : peer.exposures;
        part.granted = true;
    }
    epoch->parts_granted = static_cast<std::uint32_t>(peers.size());
    epoch->opened_at = 0;
    epoch->state = next_state(epoch->state, EpochEvent::activate);
    window.queue_.push_front(epoch); // it was active before any that is deferred now
    return epoch;
}

Epoch* LightEpochs::access_fully(Window& window) noexcept
{
    Epoch* epoch = make_full(window, EpochKind::access, window.light_access_);
    if (epoch == nullptr) {
        return nullptr;
    }
    for (std::uint32_t index = 0; index < epoch->parts.size(); ++index) {
        Target& target = window.target_of(epoch->parts[index]);
        target.light = Light::none;
        target.epoch = epoch;
        target.part = index;
    }
    window.light_access_.close();
    return epoch;
}

bool LightEpochs::wait(Window& window, int polls) noexcept
{
    if (!window.light_exposure_.is_open()) {
        return false;
    }
    for (const int rank : window.light_exposure_.peers()) {
        const std::uint64_t number = window.first_target_[rank].exposures;
        const auto& done = window.own().words(rank).done;
        if (!poll(polls, [&] {
                return rules::exposure_done(number, done.load(std::memory_order_acquire));
            })) {
            return false;
        }
    }
    window.light_exposure_.close();
    --window.pending_;
    return true;
}

Epoch* LightEpochs::expose_fully(Window& window) noexcept
{
    Epoch* epoch = make_full(window, EpochKind::exposure, window.light_exposure_);
    if (epoch != nullptr) {
        window.light_exposure_.close();
    }
    return epoch;
}

} // namespace sidelight::rma
