// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/kinds.hpp"

namespace sidelight::runtime {

/// The number by which flushes know the calling thread, which it takes with its first call and
/// gives back when it ends. no_thread while others have them all: what it issues then is
/// everybody's to wait for, and its flushes are the process's; it asks again with its next call.
/// The log says so once.
[[nodiscard]] rma::ThreadNumber flush_number_of_thread() noexcept;

} // namespace sidelight::runtime
