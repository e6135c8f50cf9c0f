// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/epoch/kind_table.hpp"

namespace sidelight::rma {

/// Exposure epochs, by MPI_Win_post: whether the origin is done with the one that `peer` is of.
/// Does for the origin what that has offered.
[[nodiscard]] bool exposure_over(const EpochSurroundings& with, const PeerEpoch& peer) noexcept;

} // namespace sidelight::rma
