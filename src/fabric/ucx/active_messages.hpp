// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sidelight::fabric::ucx {

/// The numbers of our active messages; they mean something to our own workers only.
inline constexpr unsigned batch_id = 1; ///< data: BatchHeader and frames
inline constexpr unsigned zero_copy_id =
    2; ///< header: ZeroCopyHeader and the sender's; data: the payload

} // namespace sidelight::fabric::ucx
