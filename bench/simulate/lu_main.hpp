// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sidelight::simulate {

/// The command `simulate lu`: reads its options, runs it, prints, and answers the exit status.
int lu_main(int argc, char **argv);

} // namespace sidelight::simulate
