// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace sidelight {

/// A table of objects of which all zero is a valid state. Addresses for all of them are taken at
/// once; the kernel gives memory to those that are touched, so the others cost none.
template <class T>
class ZeroedTable {
public:
    /// Throws std::bad_alloc.
    explicit ZeroedTable(std::size_t size) : memory_(std::calloc(addresses(size), 1))
    {
        std::size_t space = addresses(size);
        void* first = memory_.get();
        if (first == nullptr) {
            throw std::bad_alloc();
        }
        first_ = static_cast<T*>(std::align(alignof(T), size * sizeof(T), first, space));
    }

    /// Bytes of addresses that a table takes.
    [[nodiscard]] static constexpr std::size_t addresses(std::size_t size) noexcept
    {
        return size * sizeof(T) + alignof(T);
    }

    [[nodiscard]] T& operator[](int index) noexcept { return first_[index]; }
    [[nodiscard]] const T& operator[](int index) const noexcept { return first_[index]; }
    [[nodiscard]] T* data() noexcept { return first_; }

private:
    struct Free {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };
    std::unique_ptr<void, Free> memory_;
    T* first_ = nullptr;
};

} // namespace sidelight
