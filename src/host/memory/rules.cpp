// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/rules.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sidelight::host::memory {
namespace {

/// The flags of ordinary memory: access rights, accounting, and advice that only steers read-ahead
/// and huge pages. With any other flag the area stays as it is.
constexpr std::array<std::string_view, 12> ordinary_flags{"rd", "wr", "mr", "mw", "me", "ac",
                                                          "nr", "sd", "hg", "nh", "sr", "rr"};

bool is_ordinary(std::string_view flags) noexcept
{
    for (std::size_t at = 0; at + 2 <= flags.size(); at += 3) {
        const auto* known =
            std::find(ordinary_flags.begin(), ordinary_flags.end(), flags.substr(at, 2));
        if (known == ordinary_flags.end()) {
            return false;
        }
    }
    return !flags.empty();
}

bool is_plain_name(std::string_view name) noexcept
{
    return name.empty() || name == "[heap]" || name.substr(0, 6) == "[anon:";
}

} // namespace

const char* text(Refusal refusal) noexcept
{
    switch (refusal) {
    case Refusal::none:
        return "";
    case Refusal::policy:
        return "SIDELIGHT_SHARE_MEMORY is never";
    case Refusal::no_memory_there:
        return "nothing is mapped there";
    case Refusal::not_writable:
        return "it cannot be read and written";
    case Refusal::executable:
        return "it is executable";
    case Refusal::file:
        return "it is a private mapping of a file";
    case Refusal::stack:
        return "it is a stack";
    case Refusal::locked:
        return "it is locked";
    case Refusal::special:
        return "it has flags that other memory cannot take over";
    case Refusal::pinned:
        return "a device may access memory of this process";
    case Refusal::threads:
        return "other threads run, and cannot be stopped";
    case Refusal::huge_pages:
        return "shared memory would have no huge pages";
    case Refusal::huge_pages_to_come:
        return "shared memory would have no huge pages where nothing was written yet";
    case Refusal::too_split:
        return "it consists of too many mappings";
    case Refusal::unreachable:
        return "it is shared, but other processes cannot open it";
    case Refusal::in_use:
        return "its pages, or their place in our file, are in use as they are";
    case Refusal::file_limit:
        return "the size of files is limited (ulimit -f)";
    case Refusal::system:
        return "the kernel refused";
    }
    return "unknown";
}

Refusal refusal_of(const Area& area, std::uintptr_t local) noexcept
{
    const std::string_view name = area.name.data();
    if (!area.readable || !area.writable) {
        return Refusal::not_writable;
    }
    if (area.executable) {
        return Refusal::executable;
    }
    if (name.substr(0, 6) == "[stack" || area.span.holds(local) || has_flag(area, "gd")) {
        return Refusal::stack;
    }
    if (area.shared || area.inode != 0 || area.device != 0) {
        return Refusal::file;
    }
    if (has_flag(area, "lo")) {
        return Refusal::locked;
    }
    return is_ordinary(area.flags.data()) && is_plain_name(name) ? Refusal::none : Refusal::special;
}

Refusal refusal_of(const ProcessState& state, SharePolicy policy, bool can_stop) noexcept
{
    if (policy == SharePolicy::never) {
        return Refusal::policy;
    }
    if (policy == SharePolicy::always) {
        return Refusal::none;
    }
    if (is_pinned(state)) {
        return Refusal::pinned;
    }
    return state.threads == 1 || can_stop ? Refusal::none : Refusal::threads;
}

} // namespace sidelight::host::memory
