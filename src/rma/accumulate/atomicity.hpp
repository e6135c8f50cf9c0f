// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sidelight::rma {

/// The locks of what the processor has no atomic access for: elements wider than 8 bytes,
/// misaligned ones, and short rows that are to be whole. Lies in memory shared by all who access a
/// window; zeroed memory is unlocked. The stripe comes from the part of the address below the page
/// size, which all mappings share. A thread holds at most one, for one element or a short row of
/// them, and calls nothing meanwhile.
class AtomicityLocks {
public:
    static constexpr std::size_t stripes = 64;

    /// Waits for the stripe of the address: spins a little, then gives the core away (SpinWait).
    void acquire(const void* address) noexcept;
    void release(const void* address) noexcept;

private:
    /// 0 free, 1 held. Acquire by compare-and-swap, pairs with the release store.
    struct alignas(64) Lock {
        std::atomic<std::uint32_t> held{0};
    };

    static std::size_t stripe(const void* address) noexcept
    {
        return (reinterpret_cast<std::uintptr_t>(address) >> 4) % stripes;
    }

    std::array<Lock, stripes> locks_{};
};
static_assert(AtomicityLocks::stripes << 4 <= 4096,
              "stripes must not depend on the page's address");

/// Holds the lock of an address for a scope.
class AtomicityGuard {
public:
    AtomicityGuard(AtomicityLocks& locks, const void* address) noexcept
        : locks_(locks), address_(address)
    {
        locks_.acquire(address_);
    }
    ~AtomicityGuard() { locks_.release(address_); }
    AtomicityGuard(const AtomicityGuard&) = delete;
    AtomicityGuard& operator=(const AtomicityGuard&) = delete;

private:
    AtomicityLocks& locks_;
    const void* address_;
};

} // namespace sidelight::rma
