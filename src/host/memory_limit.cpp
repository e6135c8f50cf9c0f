// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory_limit.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include <sys/resource.h>

namespace sidelight::host {
namespace {

using Text = std::unique_ptr<FILE, int (*)(FILE*)>;

Text open_text(const char* path) noexcept { return {std::fopen(path, "re"), std::fclose}; }

/// Not set where there is no such file, or no number in it ("max").
std::optional<std::uint64_t> read_number(const std::string& path) noexcept
{
    const Text text = open_text(path.c_str());
    std::uint64_t value = 0;
    return text != nullptr && std::fscanf(text.get(), "%lu", &value) == 1 ? std::optional(value)
                                                                          : std::nullopt;
}

std::uint64_t left_by(const std::string& limit_path, const std::string& taken_path) noexcept
{
    const auto limit = read_number(limit_path);
    const auto taken = read_number(taken_path);
    return limit && taken ? *limit - std::min(*limit, *taken) : UINT64_MAX;
}

/// A group and those above it, by the names of both versions of control groups.
std::uint64_t left_by_group(const std::string& root, std::string group)
{
    std::uint64_t left = UINT64_MAX;
    for (bool more = true; more; group.resize(std::min(group.rfind('/'), group.size()))) {
        std::string first = root;
        first.append("/memory").append(group);
        const std::string second = root + group;
        left =
            std::min({left, left_by(second + "/memory.max", second + "/memory.current"),
                      left_by(first + "/memory.limit_in_bytes", first + "/memory.usage_in_bytes")});
        more = !group.empty();
    }
    return left;
}

} // namespace

bool overcommit_is_strict() noexcept
{
    return read_number("/proc/sys/vm/overcommit_memory").value_or(2) == 2;
}

std::uint64_t left_by_groups(const char* groups, const std::string& root)
{
    const Text text = open_text(groups);
    std::array<char, 4500> line{};
    std::uint64_t left = left_by_group(root, "");
    // "number:controllers:path"
    while (text != nullptr && std::fgets(line.data(), line.size(), text.get()) != nullptr) {
        std::string_view path = line.data();
        path = path.substr(0, path.find('\n'));
        for (int field = 0; field < 2; ++field) {
            path.remove_prefix(std::min(path.find(':') + 1, path.size()));
        }
        left = std::min(left, left_by_group(root, std::string(path)));
    }
    return left;
}

/// What RLIMIT_AS leaves is not known without counting, so it counts as nothing.
std::uint64_t may_still_take()
{
    rlimit limit{};
    const bool limited = getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
    return limited ? 0 : left_by_groups("/proc/self/cgroup", "/sys/fs/cgroup");
}

} // namespace sidelight::host
