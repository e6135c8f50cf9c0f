// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "datatype/builder.hpp"

namespace sidelight::datatype {

/// The first `bytes` of data of elements of `layout`, in the order of the type map, as one element.
/// May throw as a builder.
[[nodiscard]] LayoutPointer beginning_of(const Layout& layout, std::size_t bytes);

/// Cuts what `buffer` says to its first `bytes`, which it must have. Where that is no whole number
/// of elements its layout is a new one, that `made` owns. May throw as a builder.
void cut(Buffer& buffer, std::size_t bytes, LayoutPointer& made);

} // namespace sidelight::datatype
