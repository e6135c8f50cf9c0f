// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <unordered_set>

#include "fabric/fabric.hpp"
#include "fabric/ucx/worker.hpp"

namespace sidelight::fabric::ucx {

/// Memory of this process that is registered with UCX, so that peers who have its key access it.
class Registrations {
public:
    explicit Registrations(const Worker& worker) noexcept;

    /// As in Fabric.
    bool expose(std::span<std::byte> memory, ExposedMemory& exposed) noexcept;
    void conceal(ExposedMemory& exposed) noexcept;

    /// Before worker and context go; not `ended`: where they stay.
    void close(bool ended) noexcept;

private:
    std::size_t pack_key(ucp_mem_h memory, std::span<const std::byte> bytes,
                         std::span<std::byte> key) noexcept;

    const Library& ucx_;
    ucp_context_h context_;
    std::unordered_multiset<ucp_mem_h> registered_; ///< the same memory, the same handle
};

} // namespace sidelight::fabric::ucx
