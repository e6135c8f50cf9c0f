// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"

namespace sidelight::rma {

/// Places of active messages are multiples of it, so that their handlers find elements aligned:
/// those of an origin's ring, those in the attached buffer, and what an origin asks for there.
inline constexpr std::size_t active_granule = 16;

/// Room for pieces in one range of bytes, handed out in a circle, `most` at a time. Pieces may end
/// in any order; their bytes are free again when all handed out before them have ended.
template <std::size_t most>
class Ring {
public:
    void begin(std::uint64_t base, std::uint64_t size) noexcept { *this = Ring(base, size); }
    Ring() = default;

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return used_ == 0; }

    /// False: not now.
    [[nodiscard]] bool take(std::uint64_t bytes, std::uint64_t& place) noexcept
    {
        if (used_ == most || bytes > size_) {
            return false;
        }
        std::uint64_t offset = 0;
        if (used_ != 0) {
            const Entry& oldest = entries_[first_];
            const Entry& latest = entries_[(first_ + used_ - 1) % most];
            const std::uint64_t end = round_up(latest.offset + latest.bytes, active_granule);
            const bool wrapped = latest.offset < oldest.offset;
            if (wrapped ? end + bytes <= oldest.offset : end + bytes <= size_) {
                offset = end;
            } else if (wrapped || bytes > oldest.offset) {
                return false;
            }
        }
        entries_[(first_ + used_++) % most] = {.offset = offset, .bytes = bytes};
        place = base_ + offset;
        return true;
    }

    /// False: nothing was taken there.
    bool give_back(std::uint64_t place) noexcept
    {
        for (std::size_t index = 0; index < used_; ++index) {
            Entry& entry = entries_[(first_ + index) % most];
            if (base_ + entry.offset == place && !entry.over) {
                entry.over = true;
                while (used_ != 0 && entries_[first_].over) {
                    first_ = (first_ + 1) % most;
                    --used_;
                }
                return true;
            }
        }
        return false;
    }

private:
    struct Entry {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        bool over = false;
    };
    Ring(std::uint64_t base, std::uint64_t size) noexcept : base_(base), size_(size) {}

    std::uint64_t base_ = 0;
    std::uint64_t size_ = 0;
    std::array<Entry, most> entries_{};
    std::size_t first_ = 0;
    std::size_t used_ = 0;
};

} // namespace sidelight::rma
