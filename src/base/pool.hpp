// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <vector>

namespace sidelight {

/// Objects of one type that are taken and given back all the time. Memory comes from the system in
/// slabs, so the steady state never allocates. An object keeps its state between uses (a vector
/// inside keeps its capacity): the taker initialises it.
/// `T` needs a member `T* next`. Not thread-safe. `take` answers null when memory has run out.
template <class T>
class Pool {
public:
    [[nodiscard]] T* take() noexcept
    {
        if (free_ == nullptr && !grow()) {
            return nullptr;
        }
        T* object = free_;
        free_ = object->next;
        object->next = nullptr;
        --idle_;
        return object;
    }

    void give_back(T* object) noexcept
    {
        object->next = free_;
        free_ = object;
        ++idle_;
    }

    /// Whether `take` would have to ask the system.
    [[nodiscard]] bool empty() const noexcept { return free_ == nullptr; }

    /// After much has ended: frees the slabs of which every object is idle, unless little is.
    /// Answers how many bytes.
    std::size_t shrink() noexcept
    {
        constexpr std::size_t most_idle = 4096;
        return idle_ > most_idle ? free_idle_slabs() : 0;
    }

private:
    static constexpr std::size_t slab_objects = 64;
    using Slab = std::unique_ptr<T[]>;

    bool grow() noexcept
    {
        try {
            slabs_.push_back(std::make_unique<T[]>(slab_objects));
        } catch (const std::bad_alloc&) {
            return false;
        }
        for (std::size_t i = 0; i < slab_objects; ++i) {
            give_back(&slabs_.back()[i]);
        }
        return true;
    }

    std::size_t free_idle_slabs() noexcept
    {
        std::vector<T*> idle;
        try {
            idle.reserve(idle_);
        } catch (const std::bad_alloc&) {
            return 0; // another time
        }
        while (free_ != nullptr) {
            idle.push_back(take());
        }
        std::sort(idle.begin(), idle.end(), std::less<>());
        std::sort(slabs_.begin(), slabs_.end(), [](const Slab& one, const Slab& other) {
            return std::less<>()(one.get(), other.get());
        });
        auto next = idle.begin();
        const std::size_t freed = std::erase_if(slabs_, [&](const Slab& slab) {
            const auto first = next;
            next = std::lower_bound(first, idle.end(), slab.get() + slab_objects, std::less<>());
            const bool all = next - first == slab_objects;
            if (!all) {
                std::for_each(first, next, [this](T* object) { give_back(object); });
            }
            return all;
        });
        return freed * slab_objects * sizeof(T);
    }

    T* free_ = nullptr;
    std::size_t idle_ = 0;
    std::vector<Slab> slabs_;
};

} // namespace sidelight
