// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/lock_order.hpp"

namespace sidelight::runtime {

/// The window may have been unlocked meanwhile, or freed: then there is nothing to wait for. That
/// a member is lost is told by the epoch's own end.
void LockOrder::await(WindowObject& object) noexcept
{
    BlockingRequest granted;
    {
        const EngineToken token(engine_);
        if (object.window == nullptr ||
            object.window->await_grant(rma::all_locks, &granted) != Status::ok) {
            return;
        }
    }
    waiting_.wait(granted);
}

} // namespace sidelight::runtime
