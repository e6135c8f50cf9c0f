// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sidelight::api {

/// Where the program has called one of our entry points from, whose address of return and frame
/// these are. Where the library of messages is above and has passed the call on, its own caller.
/// Takes a microsecond: for traces.
[[nodiscard]] const void* call_site(const void* returns_to, const void* frame) noexcept;

} // namespace sidelight::api

/// In an entry point.
#define SIDELIGHT_CALL_SITE                                                                        \
    ::sidelight::api::call_site(__builtin_return_address(0), __builtin_frame_address(0))
