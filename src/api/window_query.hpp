// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "runtime/window_object.hpp"

namespace sidelight::api {

using runtime::WindowObject;

/// MPICH has two numbers for each predefined key; that of Fortran is the next one after that of C.
/// The standard ABI has one.
inline constexpr int fortran_above_c =
    !SIDELIGHT_MPI_ABI && MPI_WIN_SIZE - MPI_WIN_BASE == 2 ? 1 : 0;

/// A predefined attribute of a window (MPI-4.1, 12.2.6): C gets the address, which for the base is
/// the base itself; Fortran gets the value.
struct PredefinedAttribute {
    void* address = nullptr;
    MPI_Aint value = 0;
};

/// Nothing for any other key.
[[nodiscard]] std::optional<PredefinedAttribute> predefined_attribute(WindowObject& object,
                                                                      int keyval) noexcept;

/// Whether it is the key of a predefined attribute that windows of the host do not have.
[[nodiscard]] bool is_unknown_to_hosts(int keyval) noexcept;

} // namespace sidelight::api
