// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/control.hpp"

#include <new>

namespace sidelight::rma {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Control* Control::create(void* memory) noexcept { return new (memory) Control; }

} // namespace sidelight::rma
