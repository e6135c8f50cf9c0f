// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "datatype/builder.hpp"

namespace sidelight::datatype {

/// Makes the layout of a derived type, by taking it apart as MPI-4.1, 5.1.13 lets one, down to
/// predefined types. Null if the type is not what the host says of its size and true extent, or is
/// made in a way that is not known. One thread at a time; throws what LayoutBuilder throws.
[[nodiscard]] LayoutPointer flatten(MPI_Datatype type);

} // namespace sidelight::datatype
