// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "datatype/builder.hpp"

namespace sidelight::datatype {

/// Makes the layout of a derived type, by taking it apart as MPI-4.1, 5.1.13 lets one, down to
/// predefined types. `size`: what the host says; null if the type has another, or is made in a way
/// that is not known. One thread at a time; throws what LayoutBuilder throws.
[[nodiscard]] LayoutPointer flatten(MPI_Datatype type, MPI_Count size);

} // namespace sidelight::datatype
