// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/epoch.hpp"

#include <array>
#include <cstddef>

namespace sidelight::rma {

namespace {

using enum EpochState;

constexpr std::size_t events = 3;

/// Rows: the state before. Columns: activate, close, complete.
constexpr std::array<std::array<EpochState, events>, 5> transitions{{
    /* deferred_open   */ {active_open, deferred_closed, illegal},
    /* deferred_closed */ {active_closed, illegal, illegal},
    /* active_open     */ {illegal, active_closed, illegal},
    /* active_closed   */ {illegal, illegal, completed},
    /* completed       */ {illegal, illegal, illegal},
}};

} // namespace

EpochState next_state(EpochState state, EpochEvent event) noexcept
{
    return state == illegal
               ? illegal
               : transitions[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

} // namespace sidelight::rma
