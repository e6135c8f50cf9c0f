// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/rules.hpp"

#include <algorithm>
#include <array>

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

/// Anonymous memory, or what was in a window before: pages of a file of ours, written to for this
/// process alone.
bool is_private(const Area& area) noexcept
{
    const bool plain =
        area.name.empty() || area.name == "[heap]" || area.name.starts_with("[anon:");
    const bool anonymous = area.inode == 0 && area.device == 0 && plain;
    return !area.shared && (anonymous || area.name.starts_with("/memfd:sidelight"));
}

} // namespace

const char* text(Refusal refusal) noexcept
{
    constexpr std::array<const char*, static_cast<std::size_t>(Refusal::system) + 1> texts{
        "",
        "it is memory of the program's own",
        "nothing is mapped there",
        "it cannot be read and written",
        "it is no ordinary memory",
        "it does not begin and end with a page",
        "it is shared, but other processes cannot map it",
        "another window uses it as it is",
        "the program has other threads",
        "a device may access memory of this process",
        "it is still shared with a process that was forked",
        "it lies on other NUMA nodes",
        "memory is not overcommitted (vm.overcommit_memory is 2)",
        "memory is limited, and the limit is near",
        "the kernel refused",
    };
    return texts[static_cast<std::size_t>(refusal)];
}

Refusal refusal_of(const Area& area, std::uintptr_t local) noexcept
{
    if (!area.readable || !area.writable) {
        return Refusal::not_writable;
    }
    const bool ordinary =
        !area.executable && !area.span.holds(local) && is_private(area) && is_ordinary(area.flags);
    return ordinary ? Refusal::none : Refusal::special;
}

bool all_on_node(std::span<const int> nodes, int here) noexcept
{
    return std::all_of(nodes.begin(), nodes.end(),
                       [here](int node) { return node < 0 || node == here; });
}

} // namespace sidelight::host::memory
