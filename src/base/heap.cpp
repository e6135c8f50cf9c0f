// SPDX-License-Identifier: BSD-3-Clause
#include "base/heap.hpp"

#include <malloc.h>

namespace sidelight {

void trim_heap(std::size_t freed) noexcept
{
    constexpr std::size_t much = std::size_t{4} << 20;
    if (freed >= much) {
        malloc_trim(0);
    }
}

} // namespace sidelight
