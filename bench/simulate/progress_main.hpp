// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sidelight::simulate {

/// `simulate progress`: what main does with the rest of the command line.
int progress_main(int argc, char **argv);

} // namespace sidelight::simulate
