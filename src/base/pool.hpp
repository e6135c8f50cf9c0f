// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace sidelight {

/// Objects of one type that are taken and given back all the time. Memory comes from the system in
/// slabs and stays until the pool dies, so the steady state never allocates. An object keeps its
/// state between uses (a vector inside keeps its capacity): the taker initialises it.
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
        return object;
    }

    void give_back(T* object) noexcept
    {
        object->next = free_;
        free_ = object;
    }

private:
    static constexpr std::size_t slab_objects = 64;

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

    T* free_ = nullptr;
    std::vector<std::unique_ptr<T[]>> slabs_;
};

} // namespace sidelight
