// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/accumulates.hpp"

#include "base/lock_slot.hpp"

namespace sidelight::rma {

namespace {

/// Closing a lock to its readers costs all cores an interrupt. So many bytes of rows by atomic
/// instructions take longer than that.
constexpr std::uint32_t rows_that_close = 64U << 10;

} // namespace

class Accumulates::Rows final : public RowAccess {
public:
    Rows(Accumulates& owner, const AccumulateTarget& target) noexcept
        : owner_(owner), target_(target)
    {}
    bool enter(std::size_t bytes) noexcept override { return owner_.enter_row(target_, bytes); }
    void leave() noexcept override { target_.block.rows.release(); }

private:
    Accumulates& owner_;
    const AccumulateTarget& target_;
};

void Accumulates::add_neighbour(const AccumulateBlock& block)
{
    neighbours_.push_back(&block);
    slots_.push_back(&block.elements);
}

/// The first slot is that of the only thread of a program, the second the engine's; others have the
/// rest, as far as they go.
ElementSlot* Accumulates::slot() noexcept
{
    if (!many_threads_) {
        return own_.elements.data();
    }
    const std::size_t number = lock_slot_of_thread() + 2;
    return number < own_.elements.size() ? &own_.elements[number] : nullptr;
}

bool Accumulates::rows_possible() const noexcept
{
    for (const AccumulateBlock* neighbour : neighbours_) {
        if (!neighbour->allows_rows.load(std::memory_order_acquire)) {
            return false;
        }
    }
    return true;
}

/// Closes the lock to its readers when that has become worth while, and holds it then.
bool Accumulates::enter_row(const AccumulateTarget& target, std::size_t bytes) noexcept
{
    ReaderBiasedLock& rows = target.block.rows;
    if (rows.enter_closed(bytes)) {
        return true;
    }
    target.row_bytes += static_cast<std::uint32_t>(bytes);
    if (target.row_bytes < rows_that_close || !rows_possible()) {
        return false;
    }
    rows.acquire();
    if (!rows.closed()) {
        target.row_bytes = 0;
        if (!rows.close(slots_, target.number)) {
            rows.release();
            return false;
        }
    }
    rows.note_row(bytes);
    return true;
}

Status Accumulates::accumulate(ReduceOp op, const AccumulateTarget& target,
                               const datatype::Buffer& origin, const datatype::Buffer& result,
                               const datatype::Buffer& memory) noexcept
{
    Rows rows(*this, target);
    const Atomicity atomicity(target.block.atomicity, target.block.rows, engine_slot(),
                              target.number, &rows);
    return result.layout == nullptr ? rma::accumulate(op, origin, memory, atomicity)
                                    : get_accumulate(op, origin, result, memory, atomicity);
}

Status Accumulates::compare_and_swap(const AccumulateTarget& target, const void* origin,
                                     const void* compare, void* result,
                                     const datatype::Layout* layout, void* memory) noexcept
{
    const Atomicity atomicity(target.block.atomicity, target.block.rows, engine_slot(),
                              target.number, nullptr);
    return rma::compare_and_swap(origin, compare, result, layout, memory, atomicity);
}

} // namespace sidelight::rma
