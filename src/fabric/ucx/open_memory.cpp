// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/open_memory.hpp"

#include <new>

#include "base/log.hpp"
#include "fabric/ucx/key.hpp"
#include "fabric/ucx/transports.hpp"

namespace sidelight::fabric::ucx {

OpenMemory::~OpenMemory() { owner_.forget(*this); }

OpenMemories::OpenMemories(const Worker& worker, Transfers& transfers, bool always) noexcept
    : ucx_(worker.ucx()),
      transfers_(transfers),
      always_(always),
      possible_(always || worker.has_hardware())
{}

/// Decided once for each peer, when there is an endpoint, and memory for UCX's words about it.
bool OpenMemories::accesses(Peer& peer) const noexcept
try {
    using Opening = PeerMemory::Opening;
    if (!possible_) {
        return false;
    }
    if (peer.memory.opening == Opening::unknown && peer.endpoint != nullptr) {
        const bool native = always_ || have_hardware(ucx_.transports(peer.endpoint));
        peer.memory.opening = native ? Opening::native : Opening::refused;
    }
    return peer.memory.opening == Opening::native && !peer.failed;
} catch (const std::bad_alloc&) {
    return false;
}

std::unique_ptr<RemoteMemory> OpenMemories::open(Peer& peer,
                                                 std::span<const std::byte> bytes) noexcept
try {
    if (peer.endpoint == nullptr || peer.failed) {
        return nullptr;
    }
    const auto key = read_key(bytes);
    if (!key) {
        log(LogLevel::warn, "a key of peer %d is none", peer.number);
        return nullptr;
    }
    ucp_rkey_h opened = nullptr;
    const ucs_status_t status = ucx_.ep_rkey_unpack(peer.endpoint, key->own.data(), &opened);
    if (status != UCS_OK) {
        log(LogLevel::info, "memory of peer %d is not reached by UCX: %s", peer.number,
            ucx_.status_string(status));
        return nullptr;
    }
    auto memory = std::make_unique<OpenMemory>(
        *this, transfers_, RemotePlace{.peer = peer, .key = opened, .base = key->base});
    open_.insert(memory.get()); // without memory for that, it ends with its key
    return memory;
} catch (const std::bad_alloc&) {
    return nullptr;
}

void OpenMemories::forget(OpenMemory& memory) noexcept
{
    if (ucp_rkey_h key = memory.take_key(); key != nullptr) {
        ucx_.rkey_destroy(key);
        open_.erase(&memory);
    }
}

void OpenMemories::close(bool ended) noexcept
{
    for (OpenMemory* memory : std::exchange(open_, {})) {
        ucp_rkey_h key = memory->take_key();
        if (ended) {
            ucx_.rkey_destroy(key);
        }
    }
}

} // namespace sidelight::fabric::ucx
