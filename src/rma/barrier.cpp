// SPDX-License-Identifier: BSD-3-Clause
#include "rma/barrier.hpp"

#include <algorithm>

#include "rma/window.hpp"

namespace sidelight::rma {

void Barrier::arrive(std::uint64_t number) noexcept
{
    if (arrived_ >= number) {
        return;
    }
    arrived_ = number;
    if (word_ == nullptr) {
        round_ = 0;
        send_round();
        return;
    }
    // Release of everything before the barrier; pairs with the acquire in `passed`.
    const std::uint64_t before = word_->arrivals.fetch_add(1, std::memory_order_seq_cst);
    const auto members = static_cast<std::uint64_t>(window_.size());
    if (rules::barrier_passed(number, members, before + 1)) {
        window_.wake_members();
    }
}

bool Barrier::passed(std::uint64_t number) noexcept
{
    if (passed_ >= number) {
        return true;
    }
    const auto members = static_cast<std::uint64_t>(window_.size());
    if (word_ != nullptr) {
        if (!rules::barrier_passed(number, members,
                                   word_->arrivals.load(std::memory_order_acquire))) {
            return false;
        }
    } else {
        while ((std::uint64_t{1} << round_) < members) {
            if (heard_[round_] < number) {
                return false;
            }
            ++round_;
            send_round();
        }
    }
    passed_ = number;
    return true;
}

void Barrier::receive(std::uint32_t round, std::uint64_t number) noexcept
{
    if (round < max_rounds) {
        heard_[round] = std::max(heard_[round], number);
    }
}

void Barrier::send_round() noexcept
{
    const std::uint64_t distance = std::uint64_t{1} << round_;
    const auto members = static_cast<std::uint64_t>(window_.size());
    if (distance >= members) {
        return;
    }
    const auto rank = static_cast<std::uint64_t>(window_.rank());
    MessageHeader header;
    header.kind = MessageKind::barrier;
    header.round = round_;
    header.number = arrived_;
    window_.send(static_cast<int>((rank + distance) % members), header);
}

} // namespace sidelight::rma
