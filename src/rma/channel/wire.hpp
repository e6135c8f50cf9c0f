// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "rma/channel/framed.hpp"
#include "rma/region/region_name.hpp"

/// The bodies of the messages between the engines of two members of a window. Protocol:
/// docs/design/wire.md.
namespace sidelight::rma {

// Bodies. `operation` is the sender's name for an operation (Flights::name), returned as it came.
// `address` is an offset in the target's memory; in a dynamic window an address there, and with
// `region`, which a memory handle names, in that region. `placed`: all zero-copy puts up to that
// number are in the sender's memory. Numbers of 32 bits wrap around; what answers a question is 0
// for no.

/// Answered by acknowledgement; a zero-copy one has a number and is answered by placed.
struct alignas(16) PutBody {
    std::uint64_t address = 0;
    std::uint64_t operation = 0;
    std::uint32_t zero_copy = 0;  ///< number of this zero-copy put; 0: it is none
    std::uint8_t acknowledge = 0; ///< tell how many fragments are complete
    Unused<3> unused{};
    RegionName region = no_region;
};
struct alignas(16) GetBody {
    std::uint64_t address = 0;
    std::uint64_t operation = 0;
    std::uint64_t bytes = 0;
    std::uint64_t position = 0; ///< byte of the operation's data stream where this fragment starts
    RegionName region = no_region;
    Unused<8> unused{};
};
/// Answered by reply where it fetches, else by acknowledgement.
struct alignas(16) AccumulateBody {
    std::uint64_t address = 0;
    std::uint64_t operation = 0;
    std::uint64_t bytes = 0; ///< data at the target
    std::uint64_t position = 0;
    std::uint8_t reduce = 0; ///< ReduceOp
    std::uint8_t basic = 0;  ///< datatype::Basic
    std::uint8_t fetch = 0;  ///< old values wanted
    std::uint8_t acknowledge = 0;
    Unused<4> unused{};
    RegionName region = no_region;
};
struct alignas(16) CompareAndSwapBody {
    std::uint64_t address = 0;
    std::uint64_t operation = 0;
    std::uint8_t basic = 0;
    Unused<7> unused{};
    RegionName region = no_region;
};
struct alignas(16) ReplyBody {
    std::uint64_t operation = 0;
    std::uint64_t position = 0;
    std::uint32_t placed = 0;
    Unused<12> unused{};
};
struct alignas(16) PlacedBody {
    std::uint64_t operation = 0;
    std::uint32_t placed = 0;
    Unused<4> unused{};
};
struct alignas(16) RefusedBody {
    std::uint64_t operation = 0;
    std::uint32_t placed = 0;
    std::uint8_t status = 0;
    std::uint8_t acknowledged = 0; ///< the fragment is one of those that acknowledgements count
    Unused<2> unused{};
};
struct alignas(16) AcknowledgementBody {
    std::uint32_t fragments = 0;
    Unused<12> unused{};
};
struct alignas(16) NoticeBody {
    std::uint64_t number = 0;
    Unused<8> unused{};
};
struct alignas(16) DoneBody {
    std::uint64_t number = 0;
    std::uint32_t zero_copies = 0; ///< it counts when all zero-copy puts up to that one are placed
    Unused<4> unused{};
};
struct alignas(16) LockBody {
    std::uint8_t type = 0; ///< LockType
    Unused<15> unused{};
};
struct alignas(16) UnlockBody {
    std::uint32_t zero_copies = 0; ///< as in DoneBody
    std::uint8_t type = 0;         ///< LockType
    std::uint8_t acknowledge = 0;
    Unused<10> unused{};
};
struct alignas(16) BarrierBody {
    std::uint64_t round = 0;
    std::uint64_t number = 0;
};
struct alignas(16) LostBody {
    std::int64_t rank = 0;
    Unused<8> unused{};
};
struct alignas(16) OrderBody {
    std::uint32_t zero_copies = 0; ///< as in DoneBody, of all that comes behind it
    Unused<12> unused{};
};
/// Behind the data of its operation. Counted as one of its fragments.
struct alignas(16) NotifyBody {
    std::uint64_t operation = 0;
    std::uint32_t index = 0;       ///< of the counter
    std::uint32_t zero_copies = 0; ///< the operation is made of so many zero-copy puts
    std::uint32_t last_copy = 0;   ///< number of the last of them
    std::uint8_t acknowledge = 0;
    Unused<11> unused{};
};
struct alignas(16) CountersBody {
    std::uint32_t number = 0;
    std::uint8_t asks = 0; ///< answer with the same
    Unused<11> unused{};
};
/// The payload opens words of the sender's: in one of them the receiver tells that it has detached.
struct alignas(16) RegionRequestBody {
    std::uint64_t first = 0, last = 0; ///< addresses of the receiver, perhaps in one region
    std::uint64_t word = 0;            ///< offset of the word
    Unused<8> unused{};
};
struct alignas(16) RegionKeyBody {
    std::uint64_t first = 0, last = 0; ///< the region; empty: there is none
    std::uint64_t told = 0;            ///< what was written last to the receiver's word
    Unused<8> unused{};
};
/// One entry of the list at the beginning of a scattered fragment's payload: `count` blocks of
/// `length` bytes, `stride` apart. Its data are those of all blocks, in this order.
struct ScatteredBlocks {
    std::uint64_t address = 0; ///< of the first one
    std::int64_t stride = 0;
    std::uint32_t length = 0;
    std::uint32_t count = 0;
};
// Scattered fragments: several blocks in the place of `address`, which is 0.
struct alignas(16) PutScatteredBody {
    PutBody put;
    std::uint64_t entries = 0; ///< of the list
    Unused<8> unused{};
};
struct alignas(16) GetScatteredBody {
    GetBody get;
    std::uint64_t entries = 0;
    Unused<8> unused{};
};
struct alignas(16) AccumulateScatteredBody {
    AccumulateBody accumulate;
    std::uint64_t entries = 0;
    Unused<8> unused{};
};
static_assert(sizeof(PutBody) == 32 && sizeof(AccumulateBody) == 48 &&
                  sizeof(CompareAndSwapBody) == 32,
              "a region takes no room of its own");

/// Why something was not performed, as far as the target's word for it is one.
[[nodiscard]] constexpr Status failure_of(std::uint8_t status) noexcept
{
    const bool known = status != static_cast<std::uint8_t>(Status::ok) &&
                       status <= static_cast<std::uint8_t>(Status::other);
    return known ? static_cast<Status>(status) : Status::other;
}

/// Data bytes in one message that is not zero-copy, at most. A multiple of the size of every basic
/// type without holes.
inline constexpr std::size_t fragment_bytes = 7936;
static_assert(sizeof(Framed<AccumulateBody>) + fragment_bytes <= fabric::max_message);
/// List and data in one scattered fragment, at most.
inline constexpr std::size_t scattered_bytes = fragment_bytes - 16;
static_assert(sizeof(Framed<AccumulateScatteredBody>) + scattered_bytes <= fabric::max_message);
/// Blocks up to so many bytes share a fragment.
inline constexpr std::size_t scattered_block_bytes = 2048;

/// Words in which others tell of detaches are exposed so many bytes at a time.
inline constexpr std::size_t told_bytes = 4096;

/// A contiguous fragment of a put or get of at least so many bytes goes without a copy.
inline constexpr std::size_t zero_copy_bytes = 8192;

} // namespace sidelight::rma
