// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/collapse.hpp"

#include <algorithm>
#include <atomic>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/shared_memory.hpp"
#include "host/memory/huge_pages.hpp"

namespace sidelight::host::memory {
namespace {

constexpr int collapse_advice = 25; ///< MADV_COLLAPSE, which older headers lack

bool try_on_own_page() noexcept
{
    constexpr std::size_t huge = collapsed_page;
    const File file = create_memory_file();
    const Mapping place = Mapping::anonymous(2 * huge);
    if (!file || !place || !grow(file, huge)) {
        return false;
    }
    const std::uintptr_t first = whole_pages_in(span_of(place.data(), place.bytes()), huge).first;
    const Span view{first, first + huge};
    const bool mapped = mmap(view.data(), huge, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                             file.descriptor(), 0) != MAP_FAILED;
    return mapped && Collapse(view).make(view);
}

} // namespace

Collapse::Collapse(Span view) noexcept
    : whole_(whole_pages_in(view, collapsed_page)), made_until_(whole_.first)
{}

/// The kernel collapses what has a page already.
bool Collapse::make(Span run) noexcept
{
    Span wanted = common_part(whole_, pages_of(run, collapsed_page));
    wanted.first = std::max(wanted.first, made_until_);
    if (wanted.first >= wanted.last) {
        return true;
    }
    made_until_ = wanted.last;
    for (std::uintptr_t page = wanted.first; page < wanted.last; page += collapsed_page) {
        if (syscall(SYS_madvise, page, page_size(), MADV_POPULATE_WRITE) != 0) {
            return false;
        }
    }
    return syscall(SYS_madvise, wanted.first, wanted.bytes(), collapse_advice) == 0;
}

bool can_collapse() noexcept
{
    static std::atomic<bool> has_worked{false};
    if (!has_worked.load(std::memory_order_relaxed)) {
        has_worked.store(huge_page_size() == collapsed_page && try_on_own_page(),
                         std::memory_order_relaxed);
    }
    return has_worked.load(std::memory_order_relaxed);
}

} // namespace sidelight::host::memory
