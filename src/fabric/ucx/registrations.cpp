// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/registrations.hpp"

#include <cstdint>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "fabric/ucx/key.hpp"

namespace sidelight::fabric::ucx {

Registrations::Registrations(const Worker& worker) noexcept
    : ucx_(worker.ucx()), context_(worker.context())
{}

bool Registrations::expose(std::span<std::byte> memory, ExposedMemory& exposed) noexcept
try {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    params.address = memory.data();
    params.length = memory.size();
    ucp_mem_h handle = nullptr;
    if (const ucs_status_t status = ucx_.mem_map(context_, &params, &handle); status != UCS_OK) {
        log(LogLevel::info, "UCX does not register %zu bytes: %s", memory.size(),
            ucx_.status_string(status));
        return false;
    }
    exposed.memory = handle;
    registered_.insert(handle);
    exposed.key_bytes = pack_key(handle, memory, exposed.key);
    if (exposed.key_bytes == 0) {
        conceal(exposed);
    }
    return exposed.key_bytes != 0;
} catch (const std::bad_alloc&) { // nobody knows yet that it is registered
    ucx_.mem_unmap(context_, static_cast<ucp_mem_h>(std::exchange(exposed.memory, nullptr)));
    return false;
}

/// Answers its bytes; 0: there is none, or it is too long.
std::size_t Registrations::pack_key(ucp_mem_h memory, std::span<const std::byte> bytes,
                                    std::span<std::byte> key) noexcept
{
    void* packed = nullptr;
    std::size_t packed_bytes = 0;
    if (ucx_.rkey_pack(context_, memory, &packed, &packed_bytes) != UCS_OK) {
        return 0;
    }
    const std::size_t key_bytes =
        write_key({.base = reinterpret_cast<std::uintptr_t>(bytes.data()),
                   .own = {static_cast<const std::byte*>(packed), packed_bytes}},
                  key);
    ucx_.rkey_buffer_release(packed);
    return key_bytes;
}

void Registrations::conceal(ExposedMemory& exposed) noexcept
{
    auto* handle = static_cast<ucp_mem_h>(std::exchange(exposed.memory, nullptr));
    exposed.key_bytes = 0;
    const auto found = registered_.find(handle);
    if (found != registered_.end()) { // else the fabric is closed, and this with it
        ucx_.mem_unmap(context_, handle);
        registered_.erase(found);
    }
}

void Registrations::close(bool ended) noexcept
{
    for (ucp_mem_h memory : std::exchange(registered_, {})) {
        if (ended) {
            ucx_.mem_unmap(context_, memory);
        }
    }
}

} // namespace sidelight::fabric::ucx
