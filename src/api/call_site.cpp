// SPDX-License-Identifier: BSD-3-Clause
#include "api/call_site.hpp"

#include <cstring>
#include <string_view>

#include <dlfcn.h>

#include "base/settings.hpp"

namespace sidelight::api {

namespace {

/// A function keeps its frame: the caller's frame, and behind that where it returns to.
struct Frame {
    const Frame* callers;
    const void* returns_to;
};

bool is_in_messages(const void* code) noexcept
{
    Dl_info found{};
    if (dladdr(code, &found) == 0 || found.dli_fname == nullptr) {
        return false;
    }
    const char* slash = std::strrchr(found.dli_fname, '/');
    const std::string_view file = slash != nullptr ? slash + 1 : found.dli_fname;
    return file.starts_with("libsidelight_messages.so");
}

} // namespace

/// Of that library, which is built as this one, all functions that call others keep their frames;
/// those of the program need not.
const void* call_site(const void* returns_to, const void* frame) noexcept
{
    const auto* of = static_cast<const Frame*>(frame);
    const bool may_be_above = settings().progress == Progress::smart;
    while (may_be_above && is_in_messages(returns_to)) {
        of = of->callers;
        returns_to = of->returns_to;
    }
    return returns_to;
}

} // namespace sidelight::api
