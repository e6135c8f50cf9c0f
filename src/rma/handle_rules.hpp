// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// The rules of regions that memory handles name; as those of rma/rules.hpp.
namespace sidelight::rma::rules {

/// Whether an access by a name may reach what is at its place in the target's table: the region
/// that was given that name, and none that has come there after its release. 0 names nothing.
constexpr bool is_named(std::uint64_t there, std::uint64_t name) noexcept
{
    return name != 0 && there == name;
}

/// Whether what an origin has found at a name still holds: the owner has released and detached
/// nothing since. Both count the owner's releases.
constexpr bool still_holds(std::uint64_t found, std::uint64_t now) noexcept { return found == now; }

/// Whether who releases a region may use its memory for something else: nothing that was let in
/// before is still written or read there by the fabric.
constexpr bool region_is_free(std::uint64_t uses) noexcept { return uses == 0; }

} // namespace sidelight::rma::rules
