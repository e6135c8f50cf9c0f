// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/kept_data.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/bytes.hpp"
#include "datatype/basic_layout.hpp"
#include "datatype/cursor.hpp"

namespace sidelight::rma {

using datatype::Basic;
using datatype::Buffer;

/// The data follow it.
struct alignas(64) KeptData {
    KeepingRoom& room;
    std::size_t bytes; ///< as they are counted in the pool
    std::size_t users = 0;
    Buffer buffer{};
};

namespace {

/// The same elements one behind the other. Bytes will do where nothing is combined with them.
Buffer densely(const Operation& operation, std::byte* at) noexcept
{
    const Buffer& from = operation.origin;
    const bool combines = operation.kind == OperationKind::accumulate;
    const datatype::Layout& element =
        datatype::basic_layout(combines ? operation.layout->basic : Basic::byte);
    return {at, &element, from.bytes() / element.size};
}

/// Elements with holes stay one extent apart.
std::size_t span_of(const Buffer& dense) noexcept
{
    return static_cast<std::size_t>(dense.layout->extent) * dense.count;
}

bool reads_nothing(const Operation& operation) noexcept
{
    return operation.origin.layout == nullptr || operation.origin.bytes() == 0;
}

KeptData* copy_data(KeepingRoom& room, const Operation& operation) noexcept
{
    const std::size_t bytes = kept_bytes(operation);
    void* memory = std::aligned_alloc(alignof(KeptData), bytes);
    if (memory == nullptr) {
        return nullptr;
    }
    auto* kept = new (memory) KeptData{.room = room, .bytes = bytes};
    kept->buffer = densely(operation, reinterpret_cast<std::byte*>(kept + 1));
    datatype::copy(kept->buffer, operation.origin);
    room.used += kept->bytes;
    return kept;
}

} // namespace

std::size_t kept_bytes(const Operation& operation) noexcept
{
    return reads_nothing(operation)
               ? 0
               : sizeof(KeptData) +
                     round_up(span_of(densely(operation, nullptr)), alignof(KeptData));
}

bool same_buffer(const Buffer& one, const Buffer& other) noexcept
{
    return one.address == other.address && one.layout == other.layout && one.count == other.count;
}

bool keep_data(KeepingRoom& room, Op& op, const Op* like) noexcept
{
    Buffer& origin = op.operation.origin;
    if (reads_nothing(op.operation)) {
        return true;
    }
    KeptData* kept = like != nullptr ? like->kept : copy_data(room, op.operation);
    if (kept == nullptr) {
        return false;
    }
    ++kept->users;
    datatype::release(std::exchange(origin, kept->buffer).layout);
    op.kept = kept;
    return true;
}

void keep_little(Op& op) noexcept
{
    Operation& operation = op.operation;
    const bool reads = operation.kind == OperationKind::put || is_accumulate(operation);
    if (!reads || reads_nothing(operation)) {
        return;
    }
    const Buffer dense = densely(operation, op.little.data());
    const bool compares = operation.kind == OperationKind::compare_and_swap;
    const std::size_t span = span_of(dense);
    if ((compares ? 2 : 1) * span > op.little.size()) {
        return;
    }
    datatype::copy(dense, operation.origin);
    datatype::release(std::exchange(operation.origin, dense).layout);
    if (compares) {
        operation.compare = std::memcpy(&op.little[span], operation.compare, span);
    }
}

void drop_kept(Op& op) noexcept
{
    KeptData* kept = std::exchange(op.kept, nullptr);
    if (kept != nullptr && --kept->users == 0) {
        kept->room.used -= kept->bytes;
        kept->~KeptData();
        std::free(kept);
    }
}

} // namespace sidelight::rma
