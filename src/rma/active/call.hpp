// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "datatype/layout.hpp"
#include "rma/kinds.hpp"

namespace sidelight::rma {

/// The segments of an active message on one side of its handler: so many elements of a layout each,
/// one segment behind the other.
struct ActiveSide {
    const datatype::Layout* layout = nullptr; ///< null: there is nothing on that side
    std::size_t count = 0;                    ///< elements of one segment
    std::int32_t type = 0;                    ///< by what name the handler hears of the datatype
};

/// What MPIX_Am asks for, beside what every operation says: the origin's side of one segment is in
/// its `origin` and `result`, the target memory in its `layout` and `count`.
struct ActiveCall {
    std::uint32_t handler = 0; ///< its number in the window
    std::uint64_t segments = 0;
    ActiveSide input{};  ///< as the handler sees it
    ActiveSide output{}; ///< likewise
    std::int32_t persistent_type = 0;
    ActiveOrder order{};
    bool concurrent = false; ///< asserted by its epoch
};

/// One call of a handler. `handler` is what was registered here; the addresses are those of the
/// first of `segments`, which is number `offset` of the message.
struct ActiveInvocation {
    const void* handler = nullptr;
    std::byte* input = nullptr;
    std::uint64_t input_count = 0;
    std::int32_t input_type = 0;
    std::byte* persistent = nullptr;
    std::uint64_t persistent_count = 0;
    std::int32_t persistent_type = 0;
    std::byte* output = nullptr;
    std::uint64_t output_count = 0;
    std::int32_t output_type = 0;
    std::uint64_t segments = 0;
    std::uint64_t offset = 0;
};

/// Who calls handlers. Never with the engine.
class ActiveCaller {
public:
    virtual void call(const ActiveInvocation& invocation) noexcept = 0;

protected:
    ~ActiveCaller() = default;
};

/// What an element is aligned to, as far as its layout tells: a power of two, 16 at most.
[[nodiscard]] std::size_t active_alignment_of(const datatype::Layout* layout) noexcept;

/// Where segments lie in temporary memory: so many bytes, and what is `start` bytes behind the
/// first of them is the address that the handler gets. It is as aligned as an element if they are.
struct ActiveImage {
    std::size_t bytes = 0;
    std::ptrdiff_t start = 0;
    bool overflow = false;
};
[[nodiscard]] ActiveImage image_of(const ActiveSide& side, std::uint64_t segments) noexcept;

/// The temporary memory of some segments: the image of the input, and behind it that of the output,
/// aligned as that wants to be.
struct ActiveRoom {
    ActiveImage input;
    ActiveImage output;
    std::size_t output_at = 0;
    std::size_t bytes = 0; ///< of both
    bool overflow = false;
};
[[nodiscard]] ActiveRoom room_of(const ActiveCall& call, std::uint64_t segments) noexcept;

/// How many segments fit in so many bytes, at least one if that does, and `most` at most.
[[nodiscard]] std::uint64_t segments_in(const ActiveCall& call, std::size_t bytes,
                                        std::uint64_t most) noexcept;

/// Between the segments of one side here and their image.
void fill_image(const datatype::Buffer& segment, std::uint64_t first, std::uint64_t segments,
                const ActiveSide& side, const ActiveImage& image, std::byte* memory) noexcept;
void take_image(const datatype::Buffer& segment, std::uint64_t first, std::uint64_t segments,
                const ActiveSide& side, const ActiveImage& image, std::byte* memory) noexcept;

/// Behind a message that has to wait so many others are looked at, for one that need not.
inline constexpr int most_active_looked_at = 16;

/// So many are run in a row before others come first: other windows, and in a window those of this
/// process or those of others.
inline constexpr unsigned most_active_in_a_row = 64;

/// What the handlers of a process may use, by its settings.
struct ActiveLimits {
    std::size_t internal_bytes = 65536; ///< for each peer
    std::uint64_t unit = 40;            ///< segments handed to a handler at once
};

} // namespace sidelight::rma
