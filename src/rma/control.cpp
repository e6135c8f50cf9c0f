// SPDX-License-Identifier: BSD-3-Clause
#include "rma/control.hpp"

#include <new>

namespace sidelight::rma {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Control* Control::create(void* memory, std::size_t members) noexcept
{
    auto* control = new (memory) Control;
    for (std::size_t peer = 0; peer < members; ++peer) {
        new (&control->words(static_cast<int>(peer))) PeerWords;
    }
    return control;
}

} // namespace sidelight::rma
