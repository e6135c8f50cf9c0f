// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace sidelight::fabric {

/// A queue of small messages from one process to another of its node, in memory that both have
/// mapped. Zeroed memory is an empty one. Each side writes lines of its own, and a sender that dies
/// in the middle of a message leaves one that was never sent. docs/design/fast-boxes.md.
///
/// The sender numbers its messages; those that come here have rising numbers, not all of them.
struct FastBox {
    static constexpr std::size_t slots = 8;

    struct alignas(64) Slot {
        /// The number of the message + 1, above its length in 16 bits. Released by the sender when
        /// the bytes are there.
        std::atomic<std::uint64_t> filled{0};
        std::byte bytes[248];
    };
    static constexpr std::size_t capacity = sizeof(Slot::bytes);

    alignas(64) std::atomic<std::uint64_t> taken{0};  ///< messages that the receiver has copied
    alignas(64) std::atomic<std::uint64_t> sender{0}; ///< its identity, before the first message
    Slot slot[slots];

    static constexpr int length_bits = 16;
    static constexpr std::uint64_t most_length = (std::uint64_t{1} << length_bits) - 1;
};

/// What comes out of a box.
struct FastMessage {
    std::uint64_t sender = 0; ///< identity
    std::uint64_t number = 0;
    std::span<const std::byte> bytes; ///< until the next one is taken
};

/// The boxes of one receiver. They are given to senders one after the other and never taken back;
/// who comes when none is left does without.
struct FastBoxes {
    static constexpr std::uint32_t count = 16;

    /// Null: there is none left.
    [[nodiscard]] FastBox* claim() noexcept
    {
        std::uint32_t seen = claimed.load(std::memory_order_relaxed);
        while (seen < count) {
            if (claimed.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) {
                return &box[seen];
            }
        }
        return nullptr;
    }

    alignas(64) std::atomic<std::uint32_t> claimed{0};
    FastBox box[count];
};

/// The sender's end. Without a box it takes nothing.
class FastOutbox {
public:
    FastOutbox() noexcept = default;
    /// `sender`: the identity of this process. The box may be null.
    FastOutbox(FastBox* box, std::uint64_t sender) noexcept : box_(box)
    {
        if (box_ != nullptr) {
            box_->sender.store(sender, std::memory_order_relaxed);
        }
    }

    /// Copies the message, whose number is higher than that of the one before. False: it is too
    /// long, or the receiver has to catch up. What the receiver's side of the memory says is
    /// believed only as far as it cannot do harm.
    [[nodiscard]] bool put(std::uint64_t number, std::span<const std::byte> message) noexcept
    {
        if (box_ == nullptr || message.size() > FastBox::capacity) {
            return false;
        }
        if (sent_ - taken_ >= FastBox::slots) {
            look();
            if (sent_ - taken_ >= FastBox::slots) {
                return false;
            }
        }
        FastBox::Slot& slot = box_->slot[sent_ % FastBox::slots];
        std::copy(message.begin(), message.end(), static_cast<std::byte*>(slot.bytes));
        ++sent_;
        slot.filled.store((number + 1) << FastBox::length_bits | message.size(),
                          std::memory_order_release);
        return true;
    }

private:
    void look() noexcept { taken_ = box_->taken.load(std::memory_order_acquire); }

    FastBox* box_ = nullptr;
    std::uint64_t sent_ = 0;
    std::uint64_t taken_ = 0; ///< as far as this side has looked
};

/// The receiver's end of all its boxes.
class FastInbox {
public:
    /// `boxes` are zeroed, and stay.
    explicit FastInbox(FastBoxes& boxes) noexcept : boxes_(&boxes) {}

    /// Boxes that are claimed by now are never looked at again, whatever their senders put there.
    void begin_anew() noexcept { first_ = claimed(); }

    [[nodiscard]] bool empty() const noexcept
    {
        for (std::uint32_t index = first_; index < claimed(); ++index) {
            if (filled(index)) {
                return false;
            }
        }
        return true;
    }

    /// Hands `receive` each message that is there, those of one sender in the order in
    /// which they were put, as many of each as a box holds at most: so one that sends without a
    /// pause does not keep the others waiting. Answers whether there was any.
    template <typename Receive>
    bool take(Receive receive) noexcept
    {
        bool any = false;
        const std::uint32_t boxes = claimed();
        for (std::uint32_t index = first_; index < boxes; ++index) {
            for (std::size_t count = 0; count < FastBox::slots; ++count) {
                const auto message = take_one(index);
                if (!message) {
                    break;
                }
                any = true;
                receive(*message);
            }
        }
        return any;
    }

private:
    [[nodiscard]] std::uint32_t claimed() const noexcept
    {
        return std::min(boxes_->claimed.load(std::memory_order_relaxed), FastBoxes::count);
    }

    struct Progress {
        std::uint64_t taken = 0; ///< messages
        std::uint64_t last = 0;  ///< number + 1 of the last one
    };

    [[nodiscard]] const FastBox::Slot& next(std::uint32_t index) const noexcept
    {
        return boxes_->box[index].slot[progress_[index].taken % FastBox::slots];
    }

    /// What the next slot of that box says, if it is of a new message: the one that was there
    /// before has a lower number than the last one taken.
    [[nodiscard]] std::optional<std::uint64_t> filled(std::uint32_t index) const noexcept
    {
        const std::uint64_t word = next(index).filled.load(std::memory_order_acquire);
        return word >> FastBox::length_bits > progress_[index].last ? std::optional(word)
                                                                    : std::nullopt;
    }

    /// Copied before it is looked at: the memory is the sender's, too.
    std::optional<FastMessage> take_one(std::uint32_t index) noexcept
    {
        const std::optional<std::uint64_t> word = filled(index);
        if (!word) {
            return std::nullopt;
        }
        FastBox& box = boxes_->box[index];
        Progress& progress = progress_[index];
        const std::size_t bytes =
            std::min<std::size_t>(*word & FastBox::most_length, FastBox::capacity);
        std::memcpy(message_.data(), static_cast<const std::byte*>(next(index).bytes), bytes);
        progress.last = *word >> FastBox::length_bits;
        ++progress.taken;
        box.taken.store(progress.taken, std::memory_order_release);
        return FastMessage{.sender = box.sender.load(std::memory_order_relaxed),
                           .number = progress.last - 1,
                           .bytes = {message_.data(), bytes}};
    }

    FastBoxes* boxes_;
    std::uint32_t first_ = 0; ///< box that is looked at
    std::array<Progress, FastBoxes::count> progress_{};
    alignas(64) std::array<std::byte, FastBox::capacity> message_{};
};

} // namespace sidelight::fabric
