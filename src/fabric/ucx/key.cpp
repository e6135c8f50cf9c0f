// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/key.hpp"

#include <cstring>

#include "base/digest.hpp"

namespace sidelight::fabric::ucx {
namespace {

/// Its first bytes; UCX's follow.
struct KeyHeader {
    std::uint64_t digest = 0; ///< of everything behind it
    std::uint64_t base = 0;
};

std::uint64_t digest_of_key(std::span<const std::byte> key) noexcept
{
    const auto behind = key.subspan(sizeof(KeyHeader::digest));
    return digest({reinterpret_cast<const char*>(behind.data()), behind.size()});
}

} // namespace

std::size_t write_key(const Key& key, std::span<std::byte> room) noexcept
{
    const std::size_t bytes = sizeof(KeyHeader) + key.own.size();
    if (bytes > room.size()) {
        return 0;
    }
    KeyHeader header{.base = key.base};
    std::memcpy(room.data() + sizeof header, key.own.data(), key.own.size());
    std::memcpy(room.data(), &header, sizeof header);
    header.digest = digest_of_key(room.first(bytes));
    std::memcpy(room.data(), &header, sizeof header);
    return bytes;
}

std::optional<Key> read_key(std::span<const std::byte> bytes) noexcept
{
    KeyHeader header;
    if (bytes.size() <= sizeof header) {
        return std::nullopt;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.digest != digest_of_key(bytes)) {
        return std::nullopt;
    }
    return Key{.base = header.base, .own = bytes.subspan(sizeof header)};
}

} // namespace sidelight::fabric::ucx
