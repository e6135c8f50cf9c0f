// SPDX-License-Identifier: BSD-3-Clause
#include "script.hpp"

#include <array>

namespace sidelight::sim {

namespace {

struct Names {
    const char* call;
    const char* done;
};

constexpr std::array<Names, 34> names{{
    {"compute", "compute done"},
    {"meet", "meet done"},
    {"set_keys", "set_keys done"},
    {"expose", "expose done"},
    {"release", "release done"},
    {"wait_for", "wait_for done"},
    {"attach", "attach done"},
    {"detach", "detach done"},
    {"fence", "fence done"},
    {"post", "post done"},
    {"start", "start done"},
    {"complete", "complete done"},
    {"wait", "wait done"},
    {"test", "test done"},
    {"lock", "lock done"},
    {"unlock", "unlock done"},
    {"lock_all", "lock_all done"},
    {"unlock_all", "unlock_all done"},
    {"flush", "flush done"},
    {"await_grant", "await_grant done"},
    {"await_notification", "await_notification done"},
    {"close", "close done"},
    {"put", "put done"},
    {"get", "get done"},
    {"fetch", "fetch done"},
    {"accumulate", "accumulate done"},
    {"compare_and_swap", "compare_and_swap done"},
    {"add", "add done"},
    {"fetch_add", "fetch_add done"},
    {"read_tally", "read_tally done"},
    {"write_tally", "write_tally done"},
    {"stray", "stray done"},
    {"overwrite", "overwrite done"},
    {"reread", "reread done"},
}};

} // namespace

const char* name(Call call) noexcept { return names[static_cast<std::size_t>(call)].call; }

const char* done_name(Call call) noexcept { return names[static_cast<std::size_t>(call)].done; }

} // namespace sidelight::sim
