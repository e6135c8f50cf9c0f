// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "host/mpi/handle_bits.hpp"
#include "runtime/window_object.hpp"

/// From handle to window: one probe of a direct-mapped cache; behind it a map under a lock.
/// Handles that are not in it belong to the host, or were freed.
namespace sidelight::runtime::window_table {

[[nodiscard]] inline std::uint64_t key_of(MPI_Win win) noexcept { return host::mpi::bits_of(win); }

inline constexpr unsigned slot_bits = 8;
/// Never null: an empty slot names an entry with a key that no handle has.
extern std::array<std::atomic<WindowKey*>, std::size_t{1} << slot_bits> slots;

[[nodiscard]] inline std::size_t slot_of(std::uint64_t key) noexcept
{
    return (key * 0x9E3779B97F4A7C15U) >> (64 - slot_bits);
}

[[nodiscard]] WindowObject* find_slowly(std::uint64_t key) noexcept;

/// What is in the cache of a window, if it is ours; calls nothing. `synchronizing`: for a call that
/// opens or closes epochs. The acquire pairs with the release in `insert`.
template <bool synchronizing = false>
[[nodiscard]] inline WindowKey* find_key(MPI_Win win) noexcept
{
    const std::uint64_t key = key_of(win);
    WindowKey* entry = slots[slot_of(key)].load(std::memory_order_acquire);
    const auto& open = synchronizing ? entry->synchronizing : entry->key;
    if (open.load(std::memory_order_relaxed) != key) [[unlikely]] {
        return nullptr;
    }
    if (entry == nullptr) {
        __builtin_unreachable(); // spares the callers a second test
    }
    return entry;
}

/// The direct path of a window, if it is ours, in the cache and open to the shortest way of
/// operations: in an ordered window it is to those alone that order themselves. Calls nothing.
template <bool orders_itself>
[[nodiscard]] inline rma::Mapped* find_cached(MPI_Win win) noexcept
{
    const std::uint64_t key = key_of(win);
    const WindowKey* entry = slots[slot_of(key)].load(std::memory_order_acquire);
    const auto& open = orders_itself ? entry->key : entry->shortest;
    if (open.load(std::memory_order_relaxed) != key) [[unlikely]] {
        return nullptr;
    }
    if (entry->mapped == nullptr) {
        __builtin_unreachable(); // spares the callers a second test
    }
    return entry->mapped;
}

/// Null if the window is not ours.
[[nodiscard]] inline WindowObject* find(MPI_Win win) noexcept
{
    const std::uint64_t key = key_of(win);
    WindowKey* entry = slots[slot_of(key)].load(std::memory_order_acquire);
    return entry->any.load(std::memory_order_relaxed) == key ? static_cast<WindowObject*>(entry)
                                                             : find_slowly(key);
}

/// Storage for a new window. Throws std::bad_alloc.
[[nodiscard]] WindowObject& take();
/// Returns storage that was taken and not inserted, or removed.
void give_back(WindowObject& object) noexcept;

/// Makes it findable by `object.handle`. Throws std::bad_alloc.
void insert(WindowObject& object);
/// Its info from now on, and what that says of its own operations, from the next one on. Nobody
/// uses the window meanwhile.
void take_over(WindowObject& object, WindowInfo info) noexcept;
/// Its handle is about to be freed, and counts as freed as soon as `remove` has been called, unless
/// the host has by then used it again. Until then the window is still found.
void retire(const WindowObject& object) noexcept;
/// It was not freed after all.
void keep(const WindowObject& object) noexcept;
/// Together with the window's own handle go its duplicates: they are orphans, which `find` does not
/// find, and remain to be freed.
void remove(WindowObject& object) noexcept;
/// As `find`, but for orphans, too.
[[nodiscard]] WindowObject* find_to_free(MPI_Win win) noexcept;
/// The host uses the handle for a window of its own.
void forget_freed(MPI_Win win) noexcept;
/// What may be asked of a handle.
enum class Standing : std::uint8_t {
    good,   ///< whatever the host makes of it
    stale,  ///< nothing: it is null, or that of a window of ours that was freed
    orphan, ///< to be freed: the window is gone
};
[[nodiscard]] Standing standing(MPI_Win win) noexcept;

/// Whether there is any window of ours. Relaxed: a hint.
[[nodiscard]] bool any() noexcept;
/// Calls `visit` for every window of ours.
void for_each(void (*visit)(WindowObject& object, void* context), void* context);

} // namespace sidelight::runtime::window_table
