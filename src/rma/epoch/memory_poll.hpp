// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/cpu.hpp"
#include "rma/epoch/kind_table.hpp"

namespace sidelight::rma {

/// Whether `holds`, which looks at memory that neighbours write, within so many polls; takes off
/// those that it needed. It gives up when a message has come: its sender may wait for an answer
/// before it writes.
template <class Condition>
bool poll_memory(const EpochSurroundings& with, int& polls, Condition holds) noexcept
{
    while (!holds()) {
        if (--polls < 0 || with.channels.carrier().fabric().has_come()) {
            return false;
        }
        relax_cpu();
    }
    return true;
}

} // namespace sidelight::rma
