// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/held_messages.hpp"

#include <cstring>
#include <new>

namespace sidelight::rma {

namespace {

/// What an origin may have sent unanswered is half of that.
constexpr std::size_t most_held = std::size_t{8} << 20;

} // namespace

bool HeldMessages::keep(const Message& message) noexcept
{
    const Entry entry{.header = message.header, .bytes = message.rest.size()};
    const std::size_t at = bytes_.size();
    if (at > most_held) {
        return false;
    }
    try {
        bytes_.resize(at + sizeof entry + padded(message.rest.size()));
    } catch (const std::bad_alloc&) {
        return false;
    }
    std::memcpy(bytes_.data() + at, &entry, sizeof entry);
    if (!message.rest.empty()) {
        std::memcpy(bytes_.data() + at + sizeof entry, message.rest.data(), message.rest.size());
    }
    return true;
}

HeldMessages::Entry HeldMessages::entry_at(std::size_t at) const noexcept
{
    Entry entry;
    std::memcpy(&entry, bytes_.data() + at, sizeof entry);
    return entry;
}

} // namespace sidelight::rma
