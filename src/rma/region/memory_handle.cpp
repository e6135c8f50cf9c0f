// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region/memory_handle.hpp"

#include <array>
#include <cstring>
#include <string_view>

#include "base/digest.hpp"

namespace sidelight::rma {

namespace {

/// What comes first: enough to know how many bytes there are.
struct HandleHead {
    std::uint32_t mark = 0;
    std::uint16_t version = 0;
    std::uint16_t bytes = 0;
};
constexpr HandleHead right_head{.mark = 0x4D684C53, .version = 1, .bytes = memory_handle_bytes};

struct HandleBytes {
    HandleHead head;
    std::uint64_t digest = 0; ///< of all bytes, with zero here
    std::uint64_t window = 0;
    std::uint64_t region = 0;
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    std::int32_t rank = 0;
    std::uint32_t nothing = 0;
};
static_assert(sizeof(HandleBytes) == memory_handle_bytes);

std::uint64_t digest_of(HandleBytes layout) noexcept
{
    layout.digest = 0;
    std::array<char, sizeof layout> bytes;
    std::memcpy(bytes.data(), &layout, sizeof layout);
    return digest(std::string_view(bytes.data(), bytes.size()));
}

bool is_sound(const HandleBytes& layout) noexcept
{
    return layout.nothing == 0 && layout.rank >= 0 && (layout.region & named_mark) != 0 &&
           layout.size <= ~layout.base;
}

} // namespace

void write_memory_handle(const MemoryHandle& handle, void* to) noexcept
{
    HandleBytes layout{.head = right_head,
                       .window = handle.window,
                       .region = handle.region,
                       .base = handle.base,
                       .size = handle.size,
                       .rank = handle.rank};
    layout.digest = digest_of(layout);
    std::memcpy(to, &layout, sizeof layout);
}

std::optional<MemoryHandle> read_memory_handle(const void* from) noexcept
{
    HandleBytes layout;
    std::memcpy(&layout.head, from, sizeof layout.head);
    if (layout.head.mark != right_head.mark || layout.head.version != right_head.version ||
        layout.head.bytes != right_head.bytes) {
        return std::nullopt;
    }
    std::memcpy(&layout, from, sizeof layout);
    if (layout.digest != digest_of(layout) || !is_sound(layout)) {
        return std::nullopt;
    }
    return MemoryHandle{.window = layout.window,
                        .region = layout.region,
                        .base = layout.base,
                        .size = layout.size,
                        .rank = layout.rank};
}

void spoil_memory_handle(void* handle) noexcept { std::memset(handle, 0, sizeof(HandleHead)); }

} // namespace sidelight::rma
