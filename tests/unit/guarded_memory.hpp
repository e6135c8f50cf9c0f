// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace sidelight {

/// Memory whose last byte lies before a page that nobody may touch; what lies before its first byte
/// is remembered, and another such page is before that.
class GuardedMemory {
public:
    explicit GuardedMemory(std::size_t bytes, std::size_t alignment = 1)
        : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
          inner_((bytes + page_ - 1) / page_ * page_ + page_),
          all_(static_cast<std::byte*>(
              mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
    {
        if (all_ == MAP_FAILED || mprotect(all_ + page_, inner_, PROT_READ | PROT_WRITE) != 0) {
            throw std::bad_alloc();
        }
        const std::size_t ahead = (inner_ - bytes) / alignment * alignment;
        before_ = {all_ + page_, ahead};
        data_ = {all_ + page_ + ahead, bytes};
        after_ = {data_.data() + bytes, inner_ - ahead - bytes};
        std::fill(before_.begin(), before_.end(), canary);
        std::fill(after_.begin(), after_.end(), canary);
    }
    ~GuardedMemory() { munmap(all_, inner_ + 2 * page_); }
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;

    [[nodiscard]] std::span<std::byte> data() const noexcept { return data_; }
    [[nodiscard]] bool intact() const noexcept
    {
        const auto untouched = [](std::byte byte) { return byte == canary; };
        return std::all_of(before_.begin(), before_.end(), untouched) &&
               std::all_of(after_.begin(), after_.end(), untouched);
    }

private:
    static constexpr std::byte canary{0xC5};

    std::size_t page_;
    std::size_t inner_;
    std::byte* all_;
    std::span<std::byte> before_;
    std::span<std::byte> data_;
    std::span<std::byte> after_;
};

} // namespace sidelight
