// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/present_pages.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sidelight::host::memory {
namespace {

// Bits of an entry of /proc/self/pagemap.
constexpr std::uint64_t present_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t swapped_bit = std::uint64_t{1} << 62;
constexpr std::uint64_t exclusive_bit = std::uint64_t{1} << 56;

bool is_zero(std::uintptr_t address, std::size_t bytes) noexcept
{
    const auto* words = reinterpret_cast<const std::uint64_t*>(address);
    return std::all_of(words, words + bytes / sizeof *words,
                       [](std::uint64_t word) { return word == 0; });
}

/// Calls `transfer(address, bytes, offset)` until all is done.
template <typename Transfer>
bool all_of_it(Span memory, std::uint64_t offset, Transfer transfer) noexcept
{
    std::size_t done = 0;
    while (done < memory.bytes()) {
        const long more = transfer(memory.data() + done, memory.bytes() - done,
                                   static_cast<off_t>(offset + done));
        if (more == 0 || (more < 0 && errno != EINTR)) {
            return false;
        }
        done += more > 0 ? static_cast<std::size_t>(more) : 0;
    }
    return true;
}

} // namespace

PresentPages::PresentPages(Span pages) noexcept
    : map_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)), all_(pages), rest_(pages), good_(map_)
{}

bool PresentPages::refill(std::uintptr_t address) noexcept
{
    const std::size_t page = page_size();
    const std::size_t wanted = std::min(entries_.size(), (rest_.last - address) / page);
    const auto at = static_cast<off_t>(address / page * sizeof entries_[0]);
    const long got =
        syscall(SYS_pread64, map_.descriptor(), entries_.data(), wanted * sizeof entries_[0], at);
    good_ = got > 0;
    const std::size_t count = good_ ? static_cast<std::size_t>(got) / sizeof entries_[0] : 0;
    known_ = {address, address + count * page};
    return good_;
}

/// A page that was only read is the kernel's page of zeros, which is mapped many times.
bool PresentPages::holds_something(std::uintptr_t address) noexcept
{
    const std::uint64_t entry = entries_[(address - known_.first) / page_size()];
    if ((entry & (present_bit | swapped_bit)) == 0) {
        return false;
    }
    return (entry & (swapped_bit | exclusive_bit)) != 0 || !is_zero(address, page_size());
}

bool PresentPages::next(Span& run) noexcept
{
    run = {};
    for (; good_ && !rest_.empty(); rest_.first += page_size()) {
        if (!known_.holds(rest_.first) && !refill(rest_.first)) {
            return false;
        }
        if (holds_something(rest_.first)) {
            run.first = run.empty() ? rest_.first : run.first;
            run.last = rest_.first + page_size();
        } else if (!run.empty()) {
            return true;
        }
    }
    return good_ && !run.empty();
}

bool FileData::next(Run& run) noexcept
{
    if (!good_ || at_ >= bytes_) {
        return false;
    }
    const off_t data =
        syscall(SYS_lseek, descriptor_, static_cast<off_t>(offset_ + at_), SEEK_DATA);
    if (data < 0) {
        good_ = errno == ENXIO; // no more data
        return false;
    }
    const off_t hole = syscall(SYS_lseek, descriptor_, data, SEEK_HOLE);
    good_ = hole > data;
    const std::size_t first = static_cast<std::size_t>(data) - offset_;
    const std::size_t last = std::min(static_cast<std::size_t>(hole) - offset_, bytes_);
    at_ = last;
    run = {first, last - std::min(first, last)};
    return good_ && first < bytes_;
}

bool write_all(const File& file, Span memory, std::uint64_t offset) noexcept
{
    return all_of_it(memory, offset, [&](std::byte* from, std::size_t bytes, off_t at) {
        return syscall(SYS_pwrite64, file.descriptor(), from, bytes, at);
    });
}

bool read_all(const File& file, Span memory, std::uint64_t offset) noexcept
{
    return all_of_it(memory, offset, [&](std::byte* to, std::size_t bytes, off_t at) {
        return syscall(SYS_pread64, file.descriptor(), to, bytes, at);
    });
}

} // namespace sidelight::host::memory
