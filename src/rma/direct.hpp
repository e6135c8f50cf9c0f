// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/bytes.hpp"

namespace sidelight::rma {

/// A put or get of contiguous data on mapped memory is this and nothing else.
using sidelight::store_bytes;

} // namespace sidelight::rma
