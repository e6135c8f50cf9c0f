// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/replacement.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/memory/present_pages.hpp"

namespace sidelight::host::memory {
namespace {

bool map_over(Span pages, const File& file, std::uint64_t offset, int how) noexcept
{
    return sidelight::map_over(pages.data(), pages.bytes(), file, offset, how);
}

/// Registration caches that watch what is mapped learn that these addresses change: this is what
/// they see of a program that moves them, and does nothing.
void announce(Span pages) noexcept
{
    [[maybe_unused]] void* same = mremap(pages.data(), pages.bytes(), pages.bytes(), 0);
}

bool write_all(const File& file, Span memory, std::uint64_t offset) noexcept
{
    while (!memory.empty()) {
        const ssize_t written =
            pwrite(file.descriptor(), memory.data(), memory.bytes(), static_cast<off_t>(offset));
        if (written <= 0) {
            return false;
        }
        memory.first += static_cast<std::size_t>(written);
        offset += static_cast<std::size_t>(written);
    }
    return true;
}

/// As if each page was written to. Kernels before 5.14 do it one by one.
void populate(Span pages) noexcept
{
    if (syscall(SYS_madvise, pages.first, pages.bytes(), MADV_POPULATE_WRITE) == 0) {
        return;
    }
    for (std::uintptr_t at = pages.first; at < pages.last; at += page_size()) {
        // Relaxed, and changes nothing: other threads may store there.
        std::atomic_ref(*reinterpret_cast<unsigned char*>(at))
            .fetch_or(0, std::memory_order_relaxed);
    }
}

/// Populates what the file has of these pages, and leaves its holes. False, with errno: some are
/// not, because the file does not tell.
bool populate_data(Span pages, const File& file, std::uint64_t offset) noexcept
{
    const auto end = static_cast<off_t>(offset + pages.bytes());
    auto at = static_cast<off_t>(offset);
    while (at < end) {
        const off_t data = lseek(file.descriptor(), at, SEEK_DATA);
        if (data < 0 || data >= end) {
            return data >= 0 || errno == ENXIO; // that is how it says that there is no more
        }
        at = std::min(lseek(file.descriptor(), data, SEEK_HOLE), end);
        const std::uintptr_t first = pages.first + (static_cast<std::uint64_t>(data) - offset);
        populate({first, first + static_cast<std::size_t>(at - data)});
    }
    return true;
}

bool move_piece(Span piece, const File& file, std::uint64_t offset) noexcept
{
    announce(piece);
    PresentPages pages(piece);
    Span run;
    while (pages.next(run)) {
        if (!write_all(file, run, offset + (run.first - piece.first))) {
            return false;
        }
    }
    if (!pages.good() || !map_over(piece, file, offset, MAP_SHARED)) {
        return false;
    }
    // What is not there yet comes at its first access.
    [[maybe_unused]] const bool all = populate_data(piece, file, offset);
    return true;
}

Span next_piece(Span rest) noexcept
{
    return {rest.first, rest.first + std::min(rest.bytes(), piece_bytes)};
}

} // namespace

bool move_to_file(Span pages, const File& file) noexcept
{
    Span rest = pages;
    while (!rest.empty()) {
        const Span piece = next_piece(rest);
        if (!move_piece(piece, file, piece.first - pages.first)) {
            const int reason = errno;
            if (const Span done{pages.first, piece.first}; !done.empty()) {
                [[maybe_unused]] const bool undone = move_to_private(done, file, 0);
            }
            errno = reason;
            return false;
        }
        rest.first = piece.last;
    }
    return true;
}

bool move_to_private(Span pages, const File& file, std::uint64_t offset) noexcept
{
    Span rest = pages;
    while (!rest.empty()) {
        const Span piece = next_piece(rest);
        announce(piece);
        if (!map_over(piece, file, offset, MAP_PRIVATE) || !populate_data(piece, file, offset)) {
            return false;
        }
        // Nothing of the file is seen here any more: every page that it had is copied now.
        punch(file, offset, piece.bytes());
        rest.first = piece.last;
        offset += piece.bytes();
    }
    return true;
}

} // namespace sidelight::host::memory
