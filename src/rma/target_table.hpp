// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "rma/target.hpp"

namespace sidelight::rma {

/// One Target for each member of a window. Addresses for all of them are taken at once; the kernel
/// gives memory to those that are touched, so a member without contact costs none.
class TargetTable {
public:
    /// Throws std::bad_alloc.
    explicit TargetTable(std::size_t members)
        : memory_(std::calloc(members * sizeof(Target) + alignof(Target), 1))
    {
        std::size_t space = members * sizeof(Target) + alignof(Target);
        void* first = memory_.get();
        if (first == nullptr) {
            throw std::bad_alloc();
        }
        // All zero is a Target without contact.
        first_ = static_cast<Target*>(
            std::align(alignof(Target), members * sizeof(Target), first, space));
    }

    [[nodiscard]] Target& operator[](int rank) noexcept { return first_[rank]; }
    [[nodiscard]] const Target& operator[](int rank) const noexcept { return first_[rank]; }

private:
    struct Free {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };
    std::unique_ptr<void, Free> memory_;
    Target* first_ = nullptr;
};

} // namespace sidelight::rma
