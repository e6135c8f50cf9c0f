// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/lock_order.hpp"

namespace sidelight::runtime {

/// The window may have been unlocked meanwhile, or freed: then there is nothing to wait for.
void LockOrder::await(const WindowObject& object) noexcept
{
    BlockingRequest granted;
    {
        const EngineToken token(engine_);
        if (object.window == nullptr ||
            object.window->flush(rma::all_targets, rma::FlushScope::remote, &granted) !=
                Status::ok) {
            return;
        }
    }
    waiting_.wait(granted);
}

} // namespace sidelight::runtime
