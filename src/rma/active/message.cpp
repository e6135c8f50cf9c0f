// SPDX-License-Identifier: BSD-3-Clause
#include "rma/active/message.hpp"

#include "rma/active/rules.hpp"

namespace sidelight::rma {

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
