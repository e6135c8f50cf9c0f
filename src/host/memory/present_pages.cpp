// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/present_pages.hpp"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system_limits.hpp"

namespace sidelight::host::memory {
namespace {

// Bits of an entry of /proc/self/pagemap.
constexpr std::uint64_t present = std::uint64_t{1} << 63;
constexpr std::uint64_t swapped = std::uint64_t{1} << 62;
constexpr std::uint64_t of_file = std::uint64_t{1} << 61;   ///< or shared
constexpr std::uint64_t exclusive = std::uint64_t{1} << 56; ///< mapped once

bool is_all_zero(const std::byte* page) noexcept
{
    return page[0] == std::byte{0} && std::memcmp(page, page + 1, page_size() - 1) == 0;
}

File open_page_map() noexcept { return File(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)); }

/// With fewer a file is not kept that can be opened again: the host may need it.
constexpr int files_left = 16;

bool has_policy(const std::byte* address) noexcept
{
    int mode = MPOL_DEFAULT;
    return syscall(SYS_get_mempolicy, &mode, nullptr, 0UL, address, MPOL_F_ADDR) == 0 &&
           mode != MPOL_DEFAULT;
}

/// Whether these pages lie on the node of this thread, where it has any choice.
bool lie_here(Span pages) noexcept
{
    constexpr std::size_t at_once = 512;
    unsigned here = 0;
    if (has_policy(pages.data()) || syscall(SYS_getcpu, nullptr, &here, nullptr) != 0) {
        return false;
    }
    while (!pages.empty()) {
        std::array<void*, at_once> addresses{};
        std::array<int, at_once> nodes{};
        const std::size_t count = std::min(at_once, pages.bytes() / page_size());
        for (std::size_t i = 0; i < count; ++i) {
            addresses[i] = pages.data() + i * page_size();
        }
        if (syscall(SYS_move_pages, 0, count, addresses.data(), nullptr, nodes.data(), 0) != 0 ||
            !all_on_node({nodes.data(), count}, static_cast<int>(here))) {
            return false;
        }
        pages.first += count * page_size();
    }
    return true;
}

bool has_several_nodes() noexcept
{
    static const bool several = access("/sys/devices/system/node/node1", F_OK) == 0;
    return several;
}

} // namespace

PresentPages::PresentPages(Span pages) noexcept
    : map_(open_page_map()), rest_(pages), good_(static_cast<bool>(map_))
{}

bool PresentPages::next(Span& run) noexcept
{
    const std::size_t page = page_size();
    while (!rest_.empty() && !holds_something(rest_.first)) {
        rest_.first += page;
    }
    run.first = rest_.first;
    while (!rest_.empty() && holds_something(rest_.first)) {
        rest_.first += page;
    }
    run.last = rest_.first;
    return good_ && !run.empty();
}

/// What is there but mapped by several is the kernel's page of zeros, or shared with a process that
/// was forked.
bool PresentPages::holds_something(std::uintptr_t address) noexcept
{
    if (!known_.holds(address) && !refill(address)) {
        return false;
    }
    const std::uint64_t entry = entries_[(address - known_.first) / page_size()];
    if ((entry & (present | exclusive)) == present) {
        const bool something = !is_all_zero(reinterpret_cast<const std::byte*>(address));
        any_shared_ = any_shared_ || something;
        return something;
    }
    return (entry & (present | swapped)) != 0;
}

bool PageMap::is_private(std::uintptr_t address) noexcept
{
    if (!file_.file()) {
        if (!may_keep_) {
            may_keep_ = !lack_of_files(files_left);
        }
        file_ = HeldFile(open_page_map());
    }
    const File& file = file_.file();
    std::uint64_t entry = 0;
    const auto place = static_cast<off_t>(address / page_size() * sizeof entry);
    const bool told = file && pread(file.descriptor(), &entry, sizeof entry, place) == sizeof entry;
    if (may_keep_ == false) {
        forget();
    }
    return told && (entry & (present | of_file)) == present;
}

bool PresentPages::refill(std::uintptr_t address) noexcept
{
    const std::size_t page = page_size();
    const std::size_t count = std::min(entries_.size(), (rest_.last - address) / page);
    const ssize_t got = good_
                            ? pread(map_.descriptor(), entries_.data(), count * sizeof(entries_[0]),
                                    static_cast<off_t>(address / page * sizeof(entries_[0])))
                            : -1;
    good_ = got > 0;
    rest_.last = good_ ? rest_.last : address;
    known_ = {address,
              address + (good_ ? static_cast<std::size_t>(got) / sizeof(entries_[0]) : 0) * page};
    return good_;
}

Refusal refusal_of_pages(Span pages) noexcept
{
    PresentPages present_pages(pages);
    Span run;
    while (present_pages.next(run)) {
        if (has_several_nodes() && !lie_here(run)) {
            return Refusal::placement;
        }
    }
    if (!present_pages.good()) {
        return Refusal::no_memory_there;
    }
    return present_pages.any_shared() ? Refusal::forked : Refusal::none;
}

} // namespace sidelight::host::memory
