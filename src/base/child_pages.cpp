// SPDX-License-Identifier: BSD-3-Clause
#include "base/child_pages.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

namespace sidelight {
namespace {

/// Whether any memory of the system is where mincore does not see it.
bool is_any_swapped() noexcept
{
    struct sysinfo system {};
    return ::sysinfo(&system) != 0 || system.freeswap != system.totalswap;
}

/// Copies the pages that are there, and no holes, which would become pages by being read. What is
/// swapped out looks like one.
bool copy_pages(std::byte* to, const std::byte* from, std::size_t bytes) noexcept
{
    constexpr std::size_t pages_at_once = 1024;
    const std::size_t page = page_size();
    for (std::size_t at = 0; at < bytes;) {
        std::array<unsigned char, pages_at_once> present{};
        const std::size_t count = std::min(pages_at_once, (bytes - at) / page);
        // mincore has no way to say that it only reads.
        if (mincore(const_cast<std::byte*>(from) + at, count * page, present.data()) != 0) {
            return false;
        }
        const bool all = is_any_swapped();
        for (std::size_t number = 0; number < count; ++number, at += page) {
            if (all || (present[number] & 1U) != 0) {
                std::memcpy(to + at, from + at, page);
            }
        }
    }
    return true;
}

/// Moves a copy over pages that can be read. Plain system calls, as map_over: nothing else may run
/// in a child of fork whose parent had threads.
bool copy_over(void* pages, std::size_t bytes) noexcept
{
    constexpr int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const long copy = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, how, -1, 0);
    if (copy == -1) {
        return false;
    }
    auto* const at = reinterpret_cast<std::byte*>(copy);
    const bool done = copy_pages(at, static_cast<const std::byte*>(pages), bytes) &&
                      syscall(SYS_mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                              pages) == reinterpret_cast<std::intptr_t>(pages);
    if (!done) {
        syscall(SYS_munmap, copy, bytes);
    }
    return done;
}

} // namespace

void keep_apart_in_child(void* pages, std::size_t bytes, const File& file,
                         std::uint64_t offset) noexcept
{
    if (map_over(pages, bytes, file, offset, MAP_PRIVATE | MAP_NORESERVE)) {
        return;
    }
    if (mprotect(pages, bytes, PROT_READ) == 0) {
        copy_over(pages, bytes);
        return;
    }
    for (std::size_t at = 0; at < bytes; at += page_size()) { // some are gone, or cannot be read
        void* const page = static_cast<std::byte*>(pages) + at;
        if (mprotect(page, page_size(), PROT_READ) == 0) {
            copy_over(page, page_size());
        }
    }
}

} // namespace sidelight
