// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <new>

#include "fabric/peer_memory.hpp"

namespace sidelight::fabric {

/// For a process that shares no memory with others.
class PrivateMemory final : public PeerMemory {
public:
    std::byte* make(std::size_t bytes, FileRange& where) noexcept override
    {
        where = {};
        return new (alignment, std::nothrow) std::byte[bytes]{};
    }
    void destroy(std::byte* data, const FileRange& /*where*/) noexcept override
    {
        ::operator delete[](data, alignment);
    }
    std::byte* map(const FileRange& /*range*/) noexcept override { return nullptr; }
    void unmap(std::byte* /*data*/, const FileRange& /*range*/) noexcept override {}

private:
    static constexpr std::align_val_t alignment{64};
};

} // namespace sidelight::fabric
