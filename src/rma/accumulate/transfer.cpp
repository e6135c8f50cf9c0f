// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/transfer.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "base/cpu.hpp"
#include "datatype/cursor.hpp"

namespace sidelight::rma {
namespace {

using datatype::BasicShape;
using datatype::Buffer;
using datatype::Cursor;
using datatype::Layout;
using datatype::shape_of;

bool aligned(const void* address, std::size_t width) noexcept
{
    return reinterpret_cast<std::uintptr_t>(address) % width == 0;
}

/// Walks a buffer as rows of basic elements. A buffer without a layout has no end and no address:
/// the side that an operation does not have.
class ElementCursor {
public:
    ElementCursor(const Buffer& buffer, const BasicShape& shape) noexcept
        : present_(buffer.layout != nullptr),
          holes_(shape.has_holes()),
          size_(shape.size),
          cursor_(buffer)
    {}

    [[nodiscard]] void* address() const noexcept { return cursor_.piece().address; }
    /// Elements from here on that are one extent from one another.
    [[nodiscard]] std::size_t row() const noexcept
    {
        if (!present_) {
            return SIZE_MAX;
        }
        return holes_ ? 1 : cursor_.piece().length / size_;
    }
    void advance(std::size_t elements) noexcept { cursor_.advance(elements * size_); }

private:
    bool present_;
    bool holes_;
    std::size_t size_;
    Cursor cursor_;
};

/// Rows of elements no longer than this are whole, for all that begin at the same address: a
/// structure that is accumulated as bytes is read back as one of those that were written. MPI
/// promises no more than whole elements, but other implementations hold a lock for each operation,
/// and programs count on it.
constexpr std::size_t whole_row_bytes = 64;

/// Combines elements in a way that excludes others who do so, but not those who combine rows.
template <typename Combine>
void as_elements(const Atomicity& atomicity, Combine combine) noexcept
{
    if (atomicity.gate == nullptr) {
        combine();
        return;
    }
    const ElementAccess access(*atomicity.gate, atomicity.slot, atomicity.number);
    combine();
}

/// One checked accumulate.
struct Combination {
    const Reduction& reduction;
    BasicShape shape;
    std::size_t elements;
    const Atomicity& atomicity;

    void row(void* target, const void* origin, void* result, std::size_t count) const noexcept;
    void atomic_row(void* target, const void* origin, void* result,
                    std::size_t count) const noexcept;
    void elements_of_row(void* target, const void* origin, void* result,
                         std::size_t count) const noexcept;
    void several(void* target, const void* origin, void* result, std::size_t count) const noexcept;
    void scattered(const Buffer& origin, const Buffer& result, const Buffer& target) const noexcept;
};

/// Elements that lie one extent apart on all sides.
void Combination::row(void* target, const void* origin, void* result,
                      std::size_t count) const noexcept
{
    if (count > 1 && atomicity.rows != nullptr) {
        several(target, origin, result, count);
    } else {
        as_elements(atomicity, [&] { elements_of_row(target, origin, result, count); });
    }
}

/// Which way they go depends on their type and address alone, so all operations on an element
/// exclude one another.
void Combination::elements_of_row(void* target, const void* origin, void* result,
                                  std::size_t count) const noexcept
{
    if (reduction.atomic != nullptr && aligned(target, shape.atomic)) {
        atomic_row(target, origin, result, count);
        return;
    }
    auto* to = static_cast<std::byte*>(target);
    const auto* from = static_cast<const std::byte*>(origin);
    auto* old = static_cast<std::byte*>(result);
    for (std::size_t offset = 0; offset < count * shape.extent; offset += shape.extent) {
        const AtomicityGuard guard(atomicity.locks, to + offset);
        reduction.plain(to + offset, from == nullptr ? nullptr : from + offset,
                        old == nullptr ? nullptr : old + offset, 1);
    }
}

void Combination::atomic_row(void* target, const void* origin, void* result,
                             std::size_t count) const noexcept
{
    if (count == 1 || count * shape.extent > whole_row_bytes) {
        reduction.atomic(target, origin, result, count);
        return;
    }
    const AtomicityGuard guard(atomicity.locks, target);
    reduction.atomic(target, origin, result, count);
}

/// By plain instructions where that is allowed, some of it at a time: others want to combine too.
void Combination::several(void* target, const void* origin, void* result,
                          std::size_t count) const noexcept
{
    const std::size_t most = longest_plain_row / shape.extent;
    for (std::size_t done = 0; done < count;) {
        const std::size_t now = std::min(count - done, most);
        const std::size_t at = done * shape.extent;
        auto* to = static_cast<std::byte*>(target) + at;
        const auto* from = origin == nullptr ? nullptr : static_cast<const std::byte*>(origin) + at;
        auto* old = result == nullptr ? nullptr : static_cast<std::byte*>(result) + at;
        if (atomicity.rows->enter(now * shape.extent)) {
            reduction.row()(to, from, old, now);
            atomicity.rows->leave();
        } else {
            as_elements(atomicity, [&] { elements_of_row(to, from, old, now); });
        }
        done += now;
    }
}

/// Several rows, which may be as short as an element: some hundred elements count as one.
void Combination::scattered(const Buffer& origin, const Buffer& result,
                            const Buffer& target) const noexcept
{
    ElementCursor from(origin, shape);
    ElementCursor old(result, shape);
    ElementCursor to(target, shape);
    constexpr std::size_t most = 512; // one by one: as long as a longest plain row takes
    for (std::size_t left = elements; left > 0;) {
        const std::size_t now = std::min(left, most);
        const bool plain =
            now > 1 && atomicity.rows != nullptr && atomicity.rows->enter(now * shape.extent);
        for (std::size_t rest = now; rest > 0;) {
            const std::size_t count = std::min({from.row(), old.row(), to.row(), rest});
            if (plain) {
                reduction.row()(to.address(), from.address(), old.address(), count);
            } else {
                as_elements(atomicity, [&] {
                    elements_of_row(to.address(), from.address(), old.address(), count);
                });
            }
            from.advance(count);
            old.advance(count);
            to.advance(count);
            rest -= count;
        }
        if (plain) {
            atomicity.rows->leave();
        }
        left -= now;
    }
}

/// Whether the elements of a side are all one extent apart; so is a side that is not there.
bool is_row(const Buffer& buffer, const BasicShape& shape) noexcept
{
    return buffer.layout == nullptr || (buffer.layout->contiguous && !shape.has_holes());
}

bool fits(const Buffer& buffer, std::size_t bytes) noexcept
{
    return buffer.layout == nullptr || bytes <= buffer.bytes();
}

/// An accumulate whose missing sides have no layout.
Status combine(ReduceOp op, const Buffer& origin, const Buffer& result, const Buffer& target,
               const Atomicity& atomicity) noexcept
{
    const std::size_t bytes = origin.layout != nullptr ? origin.bytes() : target.bytes();
    if (!fits(target, bytes) || !fits(result, bytes)) {
        return Status::count;
    }
    if (bytes == 0) {
        return Status::ok;
    }
    const datatype::Basic basic = target.layout->basic;
    const auto differs = [basic](const Buffer& buffer) {
        return buffer.layout != nullptr && buffer.layout->basic != basic;
    };
    if (basic == datatype::Basic::none || differs(origin) || differs(result)) {
        return Status::type;
    }
    const Reduction& kernels = reduction(op, basic);
    if (kernels.plain == nullptr) {
        return Status::op;
    }
    const BasicShape shape = shape_of(basic);
    const Combination combination{kernels, shape, bytes / shape.size, atomicity};
    if (is_row(origin, shape) && is_row(result, shape) && is_row(target, shape)) {
        combination.row(target.address, origin.address, result.address, combination.elements);
    } else {
        combination.scattered(origin, result, target);
    }
    return Status::ok;
}

template <typename Word>
void compare_and_swap_word(const void* origin, const void* compare, void* result,
                           void* target) noexcept
{
    Word next;
    Word old;
    std::memcpy(&next, origin, sizeof next);
    std::memcpy(&old, compare, sizeof old);
    __atomic_compare_exchange_n(static_cast<Word*>(target), &old, next, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    std::memcpy(result, &old, sizeof old);
}

/// For an element that no atomic access covers.
void compare_and_swap_locked(const void* origin, const void* compare, void* result, void* target,
                             std::size_t size, AtomicityLocks& locks) noexcept
{
    const AtomicityGuard guard(locks, target);
    const bool equal = std::memcmp(target, compare, size) == 0;
    std::memcpy(result, target, size);
    if (equal) {
        std::memcpy(target, origin, size);
    }
}

void compare_and_swap_element(const void* origin, const void* compare, void* result, void* target,
                              const BasicShape& shape, AtomicityLocks& locks) noexcept
{
    switch (shape.atomic != 0 && aligned(target, shape.atomic) ? shape.atomic : 0) {
    case 8:
        compare_and_swap_word<std::uint64_t>(origin, compare, result, target);
        break;
    case 4:
        compare_and_swap_word<std::uint32_t>(origin, compare, result, target);
        break;
    case 2:
        compare_and_swap_word<std::uint16_t>(origin, compare, result, target);
        break;
    case 1:
        compare_and_swap_word<std::uint8_t>(origin, compare, result, target);
        break;
    default:
        compare_and_swap_locked(origin, compare, result, target, shape.size, locks);
    }
}

} // namespace

Status transfer(Direction direction, const Buffer& origin, const Buffer& target) noexcept
{
    if (origin.layout == nullptr || target.layout == nullptr) {
        return Status::type;
    }
    const bool is_put = direction == Direction::put;
    const Buffer& from = is_put ? origin : target;
    const Buffer& to = is_put ? target : origin;
    if (from.bytes() > to.bytes()) {
        return Status::count;
    }
    datatype::copy(to, from);
    return Status::ok;
}

Status accumulate(ReduceOp op, const Buffer& origin, const Buffer& target,
                  const Atomicity& atomicity) noexcept
{
    if (origin.layout == nullptr || target.layout == nullptr) {
        return Status::type;
    }
    return combine(op, origin, Buffer{}, target, atomicity);
}

Status get_accumulate(ReduceOp op, const Buffer& origin, const Buffer& result, const Buffer& target,
                      const Atomicity& atomicity) noexcept
{
    const bool reads_origin = op != ReduceOp::no_op;
    if ((reads_origin && origin.layout == nullptr) || result.layout == nullptr ||
        target.layout == nullptr) {
        return Status::type;
    }
    return combine(op, reads_origin ? origin : Buffer{}, result, target, atomicity);
}

Status compare_and_swap(const void* origin, const void* compare, void* result, const Layout* layout,
                        void* target, const Atomicity& atomicity) noexcept
{
    if (layout == nullptr || !can_compare_and_swap(layout->basic)) {
        return Status::type;
    }
    const BasicShape shape = shape_of(layout->basic);
    as_elements(atomicity, [&] {
        compare_and_swap_element(origin, compare, result, target, shape, atomicity.locks);
    });
    return Status::ok;
}

} // namespace sidelight::rma
