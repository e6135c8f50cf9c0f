// SPDX-License-Identifier: BSD-3-Clause
#include "rma/active/message.hpp"

#include "rma/active/rules.hpp"

namespace sidelight::rma {

bool is_answered(const Operation& operation) noexcept
{
    return returned_to(operation) != nullptr ||
           (operation.kind == OperationKind::active_message && rules::active_is_answered());
}

bool ActiveMessage::keeps_order_with(const ActiveMessage& earlier) const noexcept
{
    return rules::active_keeps_order(call.order, call.handler == earlier.call.handler,
                                     range.overlaps(earlier.range));
}

void ActiveMessage::begin(const ActiveCall& as, Op& of) noexcept
{
    *this = {};
    call = as;
    op = &of;
}

} // namespace sidelight::rma
