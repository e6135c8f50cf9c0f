// SPDX-License-Identifier: BSD-3-Clause
#include "base/thread_number.hpp"
#include "rma/process.hpp"
#include "rma/window.hpp"

/// Accumulates on mapped memory, and when rows of them go by plain instructions. Protocol:
/// docs/design/accumulates.md.
namespace sidelight::rma {

namespace {

/// Closing a gate costs all cores an interrupt. So many bytes of rows by atomic instructions take
/// longer than that.
constexpr std::uint32_t rows_that_close = 64U << 10;

std::uint32_t number_of(int rank) noexcept { return static_cast<std::uint32_t>(rank) + 1; }

} // namespace

class MemberRows final : public RowAccess {
public:
    MemberRows(Window& window, int rank) noexcept : window_(window), rank_(rank) {}
    bool enter(std::size_t bytes) noexcept override { return window_.enter_row(rank_, bytes); }
    void leave() noexcept override { window_.targets_[rank_].control->rows.release(); }

private:
    Window& window_;
    int rank_;
};

/// The first slot is that of the only thread of a program; others have the rest, as far as they go.
ElementSlot* Window::element_slot() noexcept
{
    if (!process_.threaded()) {
        return own_->elements.data();
    }
    const std::size_t number = thread_number() + 1;
    return number < own_->elements.size() ? &own_->elements[number] : nullptr;
}

bool Window::rows_possible() const noexcept
{
    for (const std::int32_t neighbour : neighbours_) {
        if (!targets_[neighbour].control->allows_rows.load(std::memory_order_acquire)) {
            return false;
        }
    }
    return true;
}

/// Closes the gate when that has become worth while, and holds it then.
bool Window::enter_row(int rank, std::size_t bytes) noexcept
{
    Target& target = targets_[rank];
    RowGate& gate = target.control->rows;
    if (!gate.closed()) {
        target.row_bytes += static_cast<std::uint32_t>(bytes);
        if (target.row_bytes < rows_that_close || !rows_possible()) {
            return false;
        }
    }
    gate.acquire();
    if (!gate.closed()) {
        target.row_bytes = 0;
        if (!gate.close(element_slots_, number_of(rank))) {
            gate.release();
            return false;
        }
    }
    gate.note_row();
    return true;
}

/// `origin` or `result` may be missing.
Status Window::accumulate_here(ReduceOp op, int rank, const datatype::Buffer& origin,
                               const datatype::Buffer& result,
                               const datatype::Buffer& memory) noexcept
{
    Control& control = *targets_[rank].control;
    MemberRows rows(*this, rank);
    const Atomicity atomicity(control.atomicity, control.rows, element_slot(), number_of(rank),
                              &rows);
    return result.layout == nullptr ? accumulate(op, origin, memory, atomicity)
                                    : get_accumulate(op, origin, result, memory, atomicity);
}

Status Window::compare_and_swap_here(int rank, const void* origin, const void* compare,
                                     void* result, const datatype::Layout* layout,
                                     void* memory) noexcept
{
    Control& control = *targets_[rank].control;
    const Atomicity atomicity(control.atomicity, control.rows, element_slot(), number_of(rank),
                              nullptr);
    return compare_and_swap(origin, compare, result, layout, memory, atomicity);
}

} // namespace sidelight::rma
