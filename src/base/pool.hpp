// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "base/slabs.hpp"

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

    /// After much has ended: frees memory that is idle, unless it is little. Answers how many
    /// bytes.
    std::size_t shrink() noexcept
    {
        return idle_ <= Slabs<T>::most_idle
                   ? 0
                   : slabs_.free_idle([this] { return idle_ != 0 ? take() : nullptr; },
                                      [this](T* object) { give_back(object); });
    }

private:
    bool grow() noexcept
    {
        T* first = slabs_.grow();
        for (std::size_t i = 0; first != nullptr && i < Slabs<T>::objects; ++i) {
            give_back(first + i);
        }
        return first != nullptr;
    }

    T* free_ = nullptr;
    std::size_t idle_ = 0;
    Slabs<T> slabs_;
};

} // namespace sidelight
