// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "fabric/ucx/library.hpp"

/// What is known of UCX's transports by their names: what a choice of them leaves room for, and how
/// they are set.
namespace sidelight::fabric::ucx {

/// What to try, one after the other: the choice itself, and, where it is UCX's own, that without
/// the files in /dev/shm, which may be full or missing.
[[nodiscard]] std::vector<std::string> choices(const std::string& transports);

/// Whether that choice, which may be "auto", leaves room for shared memory.
[[nodiscard]] bool may_share_memory(const std::string& transports);

/// Says in the log which settings of the user's, made for the host perhaps, may have left UCX no
/// way to a peer, and what to do.
void explain_unreachable(const std::string& transports) noexcept;

/// Whether any of them accesses memory of peers by hardware. With all others UCX sends messages of
/// its own, which take longer than ours.
[[nodiscard]] bool have_hardware(const std::vector<std::string>& transports) noexcept;

/// Settings of our context alone: neither the environment nor other users of UCX see them.
/// `registrations`: memory is registered with hardware, and worth a cache.
void configure(const Library& ucx, ucp_config_t* config, const std::string& transports,
               bool registrations);

} // namespace sidelight::fabric::ucx
