// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/exchange_page.hpp"

#include <cstring>

namespace sidelight::host::node {

ExchangePage::ExchangePage(std::byte* memory, std::size_t members, std::size_t index) noexcept
    : head_(reinterpret_cast<Head*>(memory)),
      slots_(reinterpret_cast<Slot*>(memory + sizeof(Head))),
      members_(members),
      index_(index)
{}

bool ExchangePage::tell(std::span<const std::byte> mine) noexcept
{
    ++round_;
    std::memcpy(slot(index_).bytes, mine.data(), mine.size());
    // Releases what was told; a full barrier before the caller wakes those who wait.
    return head_->told.fetch_add(1, std::memory_order_seq_cst) + 1 == round_ * members_;
}

bool ExchangePage::all_told() const noexcept
{
    // More than that is the next round, of those who have seen the end of this one.
    return head_->told.load(std::memory_order_acquire) >= round_ * members_;
}

bool ExchangePage::is_abandoned() const noexcept
{
    const std::uint64_t end = head_->end.load(std::memory_order_acquire);
    return end != 0 && end <= round_;
}

void ExchangePage::leave() noexcept
{
    const std::uint64_t mine = round_ + 1;
    std::uint64_t end = head_->end.load(std::memory_order_relaxed);
    while ((end == 0 || mine < end) &&
           !head_->end.compare_exchange_weak(end, mine, std::memory_order_seq_cst)) {
    }
}

} // namespace sidelight::host::node
