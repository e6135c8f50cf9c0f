// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <forward_list>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/settings.hpp"
#include "runtime/window_table.hpp"

namespace sidelight::runtime::window_table {

namespace {

/// No probe finds it any more.
void hide(WindowKey& object) noexcept
{
    object.key.store(no_handle, std::memory_order_relaxed);
    object.shortest.store(no_handle, std::memory_order_relaxed);
    object.synchronizing.store(no_handle, std::memory_order_relaxed);
    object.any.store(no_handle, std::memory_order_relaxed);
}

/// Made at first use, which needs no memory, and never destroyed: windows may be used until the
/// process ends.
struct Registry {
    std::mutex mutex;
    std::forward_list<WindowObject> storage;
    List<WindowObject, &WindowObject::among> spare;
    std::unordered_map<std::uint64_t, WindowObject*> by_key;
    std::unordered_set<std::uint64_t> freed;

    /// The host has given a handle to another window while a thread that frees its former owner has
    /// not come to `remove` yet.
    void displace(std::uint64_t key, const WindowObject* owner) noexcept
    {
        const auto found = by_key.find(key);
        if (found != by_key.end() && found->second != owner) {
            hide(*found->second);
            by_key.erase(found);
        }
    }
};

Registry& registry() noexcept
{
    alignas(Registry) static std::array<std::byte, sizeof(Registry)> place;
    static auto* const made = new (place.data()) Registry;
    return *made;
}

/// Needs the lock, as the next one does.
bool is_orphan(const WindowObject& object) noexcept { return object.body->original == nullptr; }

/// They keep their handles, but nothing looks at the window through them any more.
void make_orphans(WindowBody& body) noexcept
{
    body.original = nullptr;
    while (WindowObject* object = body.duplicates.front()) {
        body.duplicates.remove(object);
        hide(*object);
    }
}

/// To the shortest way, once its handle is in the table.
void open_shortest(WindowObject& object) noexcept
{
    object.shortest.store(object.ordered ? no_handle : object.key.load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
}

std::atomic<bool> any_window{false}; ///< written with the lock

constexpr std::size_t slot_count = std::size_t{1} << slot_bits;
constinit WindowKey nobody;

template <std::size_t... indices>
constexpr std::array<std::atomic<WindowKey*>, slot_count>
empty_slots(std::index_sequence<indices...>) noexcept
{
    return {(static_cast<void>(indices), &nobody)...};
}

} // namespace

constinit std::array<std::atomic<WindowKey*>, slot_count> slots =
    empty_slots(std::make_index_sequence<slot_count>{});

WindowObject* find_slowly(std::uint64_t key) noexcept
{
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.by_key.find(key);
    if (found == all.by_key.end() || is_orphan(*found->second)) {
        return nullptr;
    }
    slots[slot_of(key)].store(found->second, std::memory_order_release);
    return found->second;
}

WindowObject& take()
{
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    if (all.spare.empty()) {
        return all.storage.emplace_front();
    }
    WindowObject* object = all.spare.front();
    all.spare.remove(object);
    return *object;
}

void give_back(WindowObject& object) noexcept
{
    object.life.fetch_add(1, std::memory_order_release);
    object.window = nullptr;
    object.mapped = nullptr;
    object.duplicate = false;
    object.region = nullptr;
    object.keeps_handle = true;
    object.body.reset();
    object.ordered = false;
    object.reported.store(false, std::memory_order_relaxed);
    object.info = {};
    object.attribute_keys.clear();
    object.start_group = {};
    object.post_group = {};
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    all.spare.push_front(&object);
}

void insert(WindowObject& object)
{
    const std::uint64_t key = key_of(object.handle);
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    all.displace(key, &object);
    all.by_key.insert_or_assign(key, &object);
    any_window.store(true, std::memory_order_relaxed);
    all.freed.erase(key);
    if (object.duplicate) {
        object.body->duplicates.push(&object);
    }
    object.mapped = object.region != nullptr ? &object.region_mapped : &object.window->mapped();
    const bool traced = static_cast<bool>(trace_of(*object.window));
    object.watched = settings().check_intrinsic || traced;
    object.key.store(object.watched ? no_handle : key, std::memory_order_relaxed);
    object.synchronizing.store(object.region != nullptr || traced ? no_handle : key,
                               std::memory_order_relaxed);
    object.any.store(key, std::memory_order_relaxed);
    open_shortest(object);
    slots[slot_of(key)].store(&object, std::memory_order_release);
}

void take_over(WindowObject& object, WindowInfo info) noexcept
{
    object.info = std::move(info);
    object.thread_scope.store(object.info.thread_scope(), std::memory_order_relaxed);
    object.active_order = object.info.active_ordering();
    object.ordered = object.info.ordered();
    open_shortest(object);
}

void retire(const WindowObject& object) noexcept
{
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    try {
        all.freed.insert(key_of(object.handle));
    } catch (const std::bad_alloc&) {
        // A use after free is then the host's to find.
    }
}

void keep(const WindowObject& object) noexcept
{
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    all.freed.erase(key_of(object.handle));
}

void remove(WindowObject& object) noexcept
{
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    hide(object);
    const auto found = all.by_key.find(key_of(object.handle));
    if (found != all.by_key.end() && found->second == &object) {
        all.by_key.erase(found);
        any_window.store(!all.by_key.empty(), std::memory_order_relaxed);
    }
    if (!object.duplicate) {
        make_orphans(*object.body);
    } else if (!is_orphan(object)) {
        object.body->duplicates.remove(&object);
    }
}

WindowObject* find_to_free(MPI_Win win) noexcept
{
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.by_key.find(key_of(win));
    return found != all.by_key.end() ? found->second : nullptr;
}

void forget_freed(MPI_Win win) noexcept
{
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    all.displace(key_of(win), nullptr);
    all.freed.erase(key_of(win));
}

Standing standing(MPI_Win win) noexcept
{
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    if (const auto found = all.by_key.find(key_of(win)); found != all.by_key.end()) {
        return is_orphan(*found->second) ? Standing::orphan : Standing::good;
    }
    return win == MPI_WIN_NULL || all.freed.contains(key_of(win)) ? Standing::stale
                                                                  : Standing::good;
}

bool any() noexcept { return any_window.load(std::memory_order_relaxed); }

void for_each(void (*visit)(WindowObject& object, void* context), void* context)
{
    Registry& all = registry();
    const std::scoped_lock lock(all.mutex);
    for (const auto& [key, object] : all.by_key) {
        if (!is_orphan(*object)) {
            visit(*object, context);
        }
    }
}

} // namespace sidelight::runtime::window_table
