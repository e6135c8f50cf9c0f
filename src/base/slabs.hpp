// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <vector>

namespace sidelight {

/// The memory of a pool: objects of one type, so many at a time. Those that are idle the pool has
/// in a list.
template <class T>
class Slabs {
public:
    static constexpr std::size_t objects = 64;
    /// A pool with more idle objects than these has memory to give back.
    static constexpr std::size_t most_idle = 4096;

    /// The first of so many new ones; null when memory has run out.
    [[nodiscard]] T* grow() noexcept
    {
        try {
            slabs_.push_back(std::make_unique<T[]>(objects));
            return slabs_.back().get();
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }

    /// Frees every slab that is idle as a whole. `take` answers the idle objects one by one, then
    /// null, and `keep` gets those back that are still there. Answers how many bytes it has freed.
    template <class Take, class Keep>
    std::size_t free_idle(Take take, Keep keep) noexcept
    {
        std::vector<T*> idle;
        try {
            idle.reserve(slabs_.size() * objects);
        } catch (const std::bad_alloc&) {
            return 0; // another time
        }
        for (T* object = take(); object != nullptr; object = take()) {
            idle.push_back(object);
        }
        std::sort(idle.begin(), idle.end(), std::less<>());
        std::sort(slabs_.begin(), slabs_.end(), [](const auto& one, const auto& other) {
            return std::less<>()(one.get(), other.get());
        });
        auto next = idle.begin();
        const std::size_t freed = std::erase_if(slabs_, [&](const auto& slab) {
            const auto first = next;
            while (next != idle.end() && std::less<>()(*next, slab.get() + objects)) {
                ++next;
            }
            const bool all = next - first == objects;
            if (!all) {
                std::for_each(first, next, keep);
            }
            return all;
        });
        return freed * objects * sizeof(T);
    }

private:
    std::vector<std::unique_ptr<T[]>> slabs_;
};

} // namespace sidelight
