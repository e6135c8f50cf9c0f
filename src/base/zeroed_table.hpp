// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include <sys/mman.h>

namespace sidelight {

/// A table of objects of which all zero is a valid state. Addresses for all of them are taken at
/// once; the kernel gives memory to those that are touched, so the others cost none. A large table
/// comes from the kernel itself: once one was freed, calloc clears what it hands out again.
template <class T>
class ZeroedTable {
public:
    /// Throws std::bad_alloc.
    explicit ZeroedTable(std::size_t size)
        : memory_(take(addresses(size)), GiveBack{addresses(size)})
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
    static constexpr std::size_t large = std::size_t{1} << 16; ///< bytes, of many pages

    static void* take(std::size_t bytes) noexcept
    {
        if (bytes < large) {
            return std::calloc(bytes, 1);
        }
        void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return memory != MAP_FAILED ? memory : nullptr;
    }
    struct GiveBack {
        std::size_t bytes;
        void operator()(void* memory) const noexcept
        {
            if (bytes < large) {
                std::free(memory);
            } else {
                munmap(memory, bytes);
            }
        }
    };

    std::unique_ptr<void, GiveBack> memory_;
    T* first_ = nullptr;
};

} // namespace sidelight
