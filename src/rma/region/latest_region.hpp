// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sidelight::rma {

/// The region of a member's table that was found last, for the direct path. All zero: none. Written
/// by MappedRegions, which looks up what this does not know.
struct LatestRegion {
    std::uint64_t first = 0; ///< address at the owner
    /// `last` while it may be reached, else 0. Released after the rest, by a progress thread
    /// perhaps, and acquired before it.
    std::atomic<std::uint64_t> open_up_to{0};
    std::uint64_t generation = 0;                        ///< of the owner's table at the look-up
    const std::atomic<std::uint64_t>* current = nullptr; ///< generation of that table
    std::uint64_t shift = 0; ///< from an address at the owner to where it is mapped here
    std::uint64_t last = 0;

    /// The bytes at the owner's address, if they lie in it, it may be reached, and is still
    /// attached. Null: unknown. `wanted`: 1 byte to 2^63 - 1.
    [[nodiscard, gnu::always_inline]] std::byte* at(std::uint64_t address,
                                                    std::uint64_t wanted) const noexcept
    {
        return within(open_up_to.load(std::memory_order_acquire), address, wanted);
    }
    /// The same for who knows by itself that it may be reached.
    [[nodiscard, gnu::always_inline]] std::byte* known_at(std::uint64_t address,
                                                          std::uint64_t wanted) const noexcept
    {
        return within(last, address, wanted);
    }

private:
    [[nodiscard, gnu::always_inline]] std::byte* within(std::uint64_t end, std::uint64_t address,
                                                        std::uint64_t wanted) const noexcept
    {
        // Compared with a sign, so that the sum cannot wrap around.
        if (address + wanted > end ||
            static_cast<std::int64_t>(address) < static_cast<std::int64_t>(first) ||
            current->load(std::memory_order_acquire) != generation) [[unlikely]] {
            return nullptr;
        }
        auto* found = reinterpret_cast<std::byte*>(address + shift); // NOLINT: of another mapping
        if (found == nullptr) {
            __builtin_unreachable(); // spares the callers a test
        }
        return found;
    }
};

} // namespace sidelight::rma
