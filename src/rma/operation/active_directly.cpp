// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/active_directly.hpp"

namespace sidelight::rma {

namespace {

/// A side that is one block, here and there.
bool is_plain(const datatype::Buffer& here, const ActiveSide& there) noexcept
{
    return there.count == 0 || (here.layout->predefined && here.layout->contiguous &&
                                there.layout->predefined && there.layout->contiguous);
}

} // namespace

bool is_for_direct_path(const Operation& operation, const ActiveCall& call,
                        const ActiveLimits& limits) noexcept
{
    const ActiveRoom room = room_of(call, call.segments);
    return !operation.ordered && operation.layout->predefined && operation.layout->contiguous &&
           operation.count != 0 && operation.layout->size != 0 && call.segments != 0 &&
           call.segments <= limits.unit && is_plain(operation.origin, call.input) &&
           is_plain(operation.result, call.output) && !room.overflow &&
           room.input.bytes <= most_direct_input && room.bytes <= limits.internal_bytes;
}

} // namespace sidelight::rma
