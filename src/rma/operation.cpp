// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation.hpp"

#include <array>

namespace sidelight::rma {

namespace {

/// Rows: the state before. Columns: begin, all_sent, buffers_free, all_answered.
constexpr std::array<std::array<OperationState, 4>, 5> life_of_operation{{
    /* recorded */ {OperationState::leaving, OperationState::illegal, OperationState::illegal,
                    OperationState::illegal},
    /* leaving  */
    {OperationState::illegal, OperationState::sent, OperationState::local,
     OperationState::complete},
    /* sent     */
    {OperationState::illegal, OperationState::illegal, OperationState::local,
     OperationState::complete},
    /* local    */
    {OperationState::illegal, OperationState::illegal, OperationState::illegal,
     OperationState::complete},
    /* complete */
    {OperationState::illegal, OperationState::illegal, OperationState::illegal,
     OperationState::illegal},
}};

} // namespace

OperationState next_state(OperationState state, OperationEvent event) noexcept
{
    return state == OperationState::illegal ? OperationState::illegal
                                            : life_of_operation[static_cast<std::size_t>(state)]
                                                               [static_cast<std::size_t>(event)];
}

} // namespace sidelight::rma
