// SPDX-License-Identifier: BSD-3-Clause
#include "base/status.hpp"

#include <array>
#include <cstddef>

namespace sidelight {
namespace {

constexpr std::array names{
    "ok",         "win",        "rank",         "disp",
    "count",      "type",       "op",           "assertion",
    "lock_type",  "rma_sync",   "rma_conflict", "rma_range",
    "rma_attach", "rma_shared", "rma_flavor",   "rma_notification",
    "size",       "base",       "buffer",       "argument",
    "group",      "info",       "no_memory",    "unsupported",
    "lost",       "other",
};
static_assert(names.size() == static_cast<std::size_t>(Status::other) + 1);

} // namespace

const char* name(Status status) noexcept { return names[static_cast<std::size_t>(status)]; }

} // namespace sidelight
