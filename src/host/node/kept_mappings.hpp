// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <mutex>

#include "base/shared_memory.hpp"

namespace sidelight::host::node {

/// Mappings of memory that other processes had brought to windows, for the next windows that they
/// bring the same to. Of files that last as long as their owners: what is freed there goes back to
/// the system though it is mapped here. Any thread.
class KeptMappings {
public:
    static constexpr std::size_t most = 64;
    static constexpr std::size_t most_bytes = std::size_t{64} << 20; ///< together

    /// Empty: there is none of exactly these bytes.
    [[nodiscard]] Mapping take(const FileRange& where) noexcept;
    /// Those that were kept first are given up where there are too many.
    void put(const FileRange& where, Mapping mapping) noexcept;

private:
    struct Entry {
        FileRange where;
        Mapping mapping;
    };

    std::mutex mutex_; ///< guards all that follows
    std::list<Entry> entries_;
    std::size_t bytes_ = 0;
};

} // namespace sidelight::host::node
