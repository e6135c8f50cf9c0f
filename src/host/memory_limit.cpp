// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory_limit.hpp"

#include <algorithm>
#include <optional>

#include <sys/resource.h>

#include "base/text_file.hpp"

namespace sidelight::host {
namespace {

/// Not set where there is no such file, or no number in it ("max").
std::optional<std::uint64_t> read_number(const char* path) noexcept
{
    const TextFile text = open_text(path);
    std::uint64_t value = 0;
    return text != nullptr && std::fscanf(text.get(), "%lu", &value) == 1 ? std::optional(value)
                                                                          : std::nullopt;
}

std::uint64_t left_by(const std::string& limit_path, const std::string& taken_path) noexcept
{
    const auto limit = read_number(limit_path.c_str());
    const auto taken = read_number(taken_path.c_str());
    return limit && taken ? *limit - std::min(*limit, *taken) : UINT64_MAX;
}

} // namespace

bool overcommit_is_strict() noexcept
{
    return read_number("/proc/sys/vm/overcommit_memory").value_or(2) == 2;
}

std::uint64_t most_mappings() noexcept
{
    constexpr std::uint64_t unless_set = 65'530;
    return read_number("/proc/sys/vm/max_map_count").value_or(unless_set);
}

/// The user may change the mode while programs run; who has begun without counting goes on.
Reservation::Reservation(std::size_t bytes) noexcept
{
    static const bool strict = overcommit_is_strict();
    memory_ = strict && bytes != 0 ? Mapping::anonymous(bytes) : Mapping();
    granted_ = !strict || bytes == 0 || memory_;
}

/// By the names of both versions of control groups.
std::uint64_t left_by_groups(const ControlGroups& where)
{
    std::uint64_t left = UINT64_MAX;
    for (const std::string& group : limiting_groups(where, "memory")) {
        left =
            std::min({left, left_by(group + "/memory.max", group + "/memory.current"),
                      left_by(group + "/memory.limit_in_bytes", group + "/memory.usage_in_bytes")});
    }
    return left;
}

/// What RLIMIT_AS leaves is not known without counting, so it counts as nothing.
std::uint64_t may_still_take()
{
    rlimit limit{};
    const bool limited = getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
    return limited ? 0 : left_by_groups({});
}

} // namespace sidelight::host
