// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "datatype/layout.hpp"

namespace sidelight::datatype {

/// The layout of one element of a basic type: predefined, one for each Basic, made at the first
/// call. The one of Basic::none has no data.
[[nodiscard]] const Layout& basic_layout(Basic basic);

} // namespace sidelight::datatype
