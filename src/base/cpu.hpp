// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sidelight {

/// Tells the core that this is a spin loop.
inline void relax_cpu() noexcept
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

/// Whether an atomic read-modify-write orders everything before it against everything after it, so
/// that no barrier is needed beside it. True on x86, where each is a locked instruction.
#if defined(__x86_64__)
inline constexpr bool rmw_is_barrier = true;
#else
inline constexpr bool rmw_is_barrier = false;
#endif

/// Whether stores become visible in their order, and not before loads that come first: then a store
/// needs no barrier to stay behind what was done before it. True on x86.
#if defined(__x86_64__)
inline constexpr bool stores_stay_in_order = true;
#else
inline constexpr bool stores_stay_in_order = false;
#endif

/// Whether atomic accesses of different widths that overlap are atomic against each other. On x86 a
/// locked instruction excludes all others from the line; other architectures do not promise it.
#if defined(__x86_64__)
inline constexpr bool mixed_widths_are_atomic = true;
#else
inline constexpr bool mixed_widths_are_atomic = false;
#endif

/// Functions that are compiled for longer vectors than every processor of the architecture has: to
/// be called where `has_wide_vectors`, or `has_widest_vectors`, alone. The widest are for
/// processors that keep their clock under them: those with AVX-512 from Ice Lake and Zen 4 on,
/// which are the ones that have VBMI2.
#if defined(__x86_64__)
#define SIDELIGHT_WIDE_VECTORS [[gnu::target("avx2")]]
#if defined(__clang__)
#define SIDELIGHT_WIDEST_VECTORS [[gnu::target("avx512f,avx512bw,avx512vl")]]
#else
#define SIDELIGHT_WIDEST_VECTORS                                                                   \
    [[gnu::target("avx512f,avx512bw,avx512vl,prefer-vector-width=512")]]
#endif
inline constexpr bool may_have_wide_vectors = true;
[[nodiscard]] inline bool has_wide_vectors() noexcept { return __builtin_cpu_supports("avx2"); }
[[nodiscard]] inline bool has_widest_vectors() noexcept
{
    return __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}
#else
#define SIDELIGHT_WIDE_VECTORS
#define SIDELIGHT_WIDEST_VECTORS
inline constexpr bool may_have_wide_vectors = false;
[[nodiscard]] inline bool has_wide_vectors() noexcept { return false; }
[[nodiscard]] inline bool has_widest_vectors() noexcept { return false; }
#endif

/// A clock that takes some nanoseconds to read, and ticks alike on all cores of a machine; how
/// fast, its readers find out. Elsewhere it ticks in nanoseconds.
[[nodiscard]] inline std::uint64_t ticks() noexcept
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
#endif
}

/// Orders every load and store before it against every one after it.
/// x86: a locked instruction on the stack takes a quarter of the time of `mfence`.
inline void full_barrier() noexcept
{
#if defined(__x86_64__)
    asm volatile("lock; orl $0, -4(%%rsp)" ::: "memory", "cc");
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

} // namespace sidelight
