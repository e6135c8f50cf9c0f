// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

namespace sidelight::fabric {

/// Numbers the processes that this one has heard of, in that order, by their identities: 0 is this
/// process itself. One object serves all fabrics of a process, so that a peer has one number.
class PeerNumbers {
public:
    explicit PeerNumbers(std::uint64_t own_identity)
        : own_identity_(own_identity), numbers_{{own_identity, own}}
    {}

    [[nodiscard]] std::uint64_t own_identity() const noexcept { return own_identity_; }

    /// This process has another identity from now on, and keeps its number.
    void rename_own(std::uint64_t identity) noexcept
    {
        auto entry = numbers_.extract(own_identity_); // so that nothing is allocated
        own_identity_ = entry.key() = identity;
        numbers_.insert(std::move(entry));
    }

    /// The number of that process; the same each time. Throws std::bad_alloc.
    int number(std::uint64_t identity)
    {
        return numbers_.try_emplace(identity, static_cast<int>(numbers_.size())).first->second;
    }

    /// How many there are; all numbers are smaller.
    [[nodiscard]] int count() const noexcept { return static_cast<int>(numbers_.size()); }

    static constexpr int own = 0;

private:
    std::uint64_t own_identity_;
    std::unordered_map<std::uint64_t, int> numbers_;
};

} // namespace sidelight::fabric
