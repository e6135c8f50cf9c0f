// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/control.hpp"

#include <new>

namespace sidelight::rma {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Control* Control::create(void* memory, std::size_t members) noexcept
{
    // The notices are zero already, and pages of those that nobody uses stay without memory.
    static_cast<void>(members);
    return new (memory) Control;
}

} // namespace sidelight::rma
