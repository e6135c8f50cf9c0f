// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/kept_mappings.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace sidelight::host::node {

Mapping KeptMappings::take(const FileRange& where) noexcept
{
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.where == where; });
    if (found == entries_.end()) {
        return {};
    }
    Mapping mapping = std::move(found->mapping);
    bytes_ -= mapping.bytes();
    entries_.erase(found);
    return mapping;
}

void KeptMappings::put(const FileRange& where, Mapping mapping) noexcept
{
    const std::size_t bytes = mapping.bytes();
    if (!mapping || bytes > most_bytes) {
        return;
    }
    const std::scoped_lock lock(mutex_);
    while (!entries_.empty() && (entries_.size() == most || bytes_ > most_bytes - bytes)) {
        bytes_ -= entries_.front().mapping.bytes();
        entries_.pop_front();
    }
    try {
        entries_.push_back({where, std::move(mapping)});
        bytes_ += bytes;
    } catch (const std::bad_alloc&) { // then it is unmapped
    }
}

} // namespace sidelight::host::node
