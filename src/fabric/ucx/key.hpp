// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// What a key says that opens memory of this process to a peer. No UCX in it.
namespace sidelight::fabric::ucx {

struct Key {
    std::uint64_t base = 0;         ///< of the memory, as an address of its owner
    std::span<const std::byte> own; ///< UCX's part
};

/// Answers the key's bytes; 0: there is no room for them.
[[nodiscard]] std::size_t write_key(const Key& key, std::span<std::byte> room) noexcept;

/// UCX trusts its own keys, so what was not written by a fabric of this kind is told by a digest.
/// Empty: it is none.
[[nodiscard]] std::optional<Key> read_key(std::span<const std::byte> bytes) noexcept;

} // namespace sidelight::fabric::ucx
