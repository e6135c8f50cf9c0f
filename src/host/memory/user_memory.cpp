// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/user_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include "base/child_pages.hpp"
#include "base/log.hpp"
#include "host/allocated/allocated_memory.hpp"
#include "host/devices.hpp"
#include "host/library_threads.hpp"
#include "host/memory/present_pages.hpp"
#include "host/memory/replacement.hpp"
#include "host/memory_limit.hpp"
#include "host/signals.hpp"

namespace sidelight::host::memory {
namespace {

/// Behind the pages in their file: what a program maps behind pages that were given back, by
/// mremap, is zeros there.
constexpr std::uint64_t room_to_grow = std::uint64_t{1} << 46;

bool overlap(Span one, Span other) noexcept { return !common_part(one, other).empty(); }

/// What tells against it beside the memory itself. `takes`: bytes that are needed for a while.
Refusal refusal_of_process(std::uint64_t takes)
{
    if (!program_is_alone()) {
        return Refusal::threads;
    }
    if (has_unknown_device()) {
        return Refusal::device;
    }
    if (overcommit_is_strict()) {
        return Refusal::overcommit;
    }
    return may_still_take() < takes ? Refusal::memory_limit : Refusal::none;
}

/// All that can be known before anything is touched; the cheap answers first.
Refusal refusal_of_range(Span pages)
{
    const std::uint64_t twice = 2 * std::min<std::uint64_t>(pages.bytes(), piece_bytes);
    if (const Refusal refusal = refusal_of_process(twice); refusal != Refusal::none) {
        return refusal;
    }
    // What this thread itself uses at any moment, also in the kernel, is none.
    if (pages.holds(static_cast<std::uintptr_t>(pthread_self()))) {
        return Refusal::special;
    }
    const std::vector<Area> areas = areas_in(pages, Detail::flags);
    for (const Area& area : areas) {
        const Refusal refusal = refusal_of(area, reinterpret_cast<std::uintptr_t>(&areas));
        if (refusal != Refusal::none) {
            return refusal;
        }
    }
    return cover(areas, pages) ? refusal_of_pages(pages) : Refusal::no_memory_there;
}

/// Whether the kernel says what is mapped: then what it does not name is gone.
bool kernel_tells()
{
    const char here = 0;
    const auto at = reinterpret_cast<std::uintptr_t>(&here);
    return !areas_in({at, at + 1}, Detail::mappings).empty();
}

} // namespace

SharedRange::SharedRange(SharedRange&& other) noexcept { *this = std::move(other); }

SharedRange& SharedRange::operator=(SharedRange&& other) noexcept
{
    std::swap(refusal_, other.refusal_);
    std::swap(claim_, other.claim_);
    std::swap(where_, other.where_);
    std::swap(range_, other.range_);
    std::swap(device_, other.device_);
    return *this;
}

void SharedRange::release() noexcept
{
    if (claim_ != Claim::nothing) {
        UserMemory::of_process().release(*this);
    }
    refusal_ = Refusal::no_memory_there;
    claim_ = Claim::nothing;
}

SharedRange share(const void* base, std::size_t size, SharePolicy policy) noexcept
{
    const auto first = reinterpret_cast<std::uintptr_t>(base);
    const Span range{first, first + size};
    if (range.empty() || range.last > UINTPTR_MAX - page_size()) {
        return {};
    }
    try {
        if (const auto born = allocated::AllocatedMemory::of_process().find(base, size)) {
            return SharedRange(*born);
        }
        return UserMemory::of_process().share(range, policy);
    } catch (const std::bad_alloc&) {
        return {};
    }
}

UserMemory& UserMemory::of_process() noexcept
{
    // Never destroyed: windows may be freed after static objects are gone.
    alignas(UserMemory) static std::array<std::byte, sizeof(UserMemory)> place;
    static auto* memory = new (place.data()) UserMemory;
    return *memory;
}

/// Before the program can register handlers, as those of AllocatedMemory.
void UserMemory::handle_forks() noexcept
{
    of_process();
    pthread_atfork([] { of_process().mutex_.lock(); }, [] { of_process().mutex_.unlock(); },
                   [] { of_process().after_fork_in_child(); });
}

SharedRange UserMemory::share(Span range, SharePolicy policy)
{
    const std::lock_guard guard(mutex_);
    if (const auto block = block_around(range);
        block != blocks_.end() && block->file.file() && cover(still_there(*block, range), range)) {
        return claim(*block, range);
    }
    SharedRange shared = find_shared(range);
    if (shared.refusal_ == Refusal::not_asked && policy == SharePolicy::in_place) {
        shared.refusal_ = replace(range);
        if (shared.refusal_ == Refusal::none) {
            return claim(blocks_.back(), range);
        }
    }
    if (!shared) {
        kept_.emplace(range.first, range.last);
        shared.claim_ = SharedRange::Claim::as_it_is;
    }
    return shared;
}

/// What was shared before we came, as it is; or why it cannot be. What peers do with it is tried
/// here: the file may be sealed.
SharedRange UserMemory::find_shared(Span range)
{
    SharedRange shared;
    shared.range_ = range;
    const Span pages = pages_of(range, page_size());
    if (page_map_.is_private(pages.first)) { // the common case, without a look at all mappings
        shared.refusal_ = Refusal::not_asked;
        return shared;
    }
    const std::vector<Area> areas = areas_in(pages, Detail::mappings);
    if (!cover(areas, pages)) {
        return shared;
    }
    if (!are_one_file(areas)) {
        shared.refusal_ = Refusal::not_asked;
        return shared;
    }
    const Area& first = areas.front();
    const bool writable = std::all_of(areas.begin(), areas.end(), [](const Area& area) {
        return area.readable && area.writable;
    });
    shared.refusal_ = writable ? Refusal::unreachable : Refusal::not_writable;
    const int descriptor = writable ? foreign_.acquire(first) : -1;
    if (descriptor < 0) {
        return shared;
    }
    shared.device_ = first.device;
    shared.where_ = {{getpid(), descriptor, first.inode},
                     first.offset + (range.first - first.span.first),
                     range.bytes()};
    if (Mapping::of(shared.where_)) {
        shared.refusal_ = Refusal::none;
        shared.claim_ = SharedRange::Claim::file;
    } else {
        foreign_.release({first.device, first.inode});
    }
    return shared;
}

/// A new block, the last one, or a reason. Signal handlers might store into the pages.
Refusal UserMemory::replace(Span range)
{
    if (pages_of(range, page_size()) != range) {
        return Refusal::edges;
    }
    give_back_idle(); // the program may have unmapped what could not be given back
    if (in_use(range)) {
        return Refusal::in_use;
    }
    if (const Refusal refusal = refusal_of_range(range); refusal != Refusal::none) {
        return refusal;
    }
    blocks_.push_back({.pages = range, .file = HeldFile(create_memory_file())});
    const File& file = blocks_.back().file.file();
    const SignalsBlocked blocked;
    if (file && grow(file, range.bytes() + room_to_grow) && move_to_file(range, file)) {
        return Refusal::none;
    }
    const int reason = errno;
    blocks_.pop_back();
    errno = reason;
    return Refusal::system;
}

SharedRange UserMemory::claim(Block& block, Span range) noexcept
{
    SharedRange shared;
    ++block.users;
    shared.refusal_ = Refusal::none;
    shared.claim_ = SharedRange::Claim::replaced;
    shared.range_ = range;
    shared.where_ = {address_of(block.file.file()), range.first - block.pages.first, range.bytes()};
    return shared;
}

UserMemory::Blocks::iterator UserMemory::block_around(Span range) noexcept
{
    return std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
        return common_part(block.pages, range) == range;
    });
}

/// Whether a window has a part of these pages as they are, and its peers may be writing there
/// through the kernel.
bool UserMemory::has_to_stay(Span pages) const noexcept
{
    return std::any_of(kept_.begin(), kept_.end(), [&](const auto& kept) {
        return overlap({kept.first, kept.second}, pages);
    });
}

/// Whether a window has a part of these pages.
bool UserMemory::in_use(Span pages) const noexcept
{
    return has_to_stay(pages) ||
           std::any_of(blocks_.begin(), blocks_.end(),
                       [&](const Block& block) { return overlap(block.pages, pages); });
}

void UserMemory::give_back_idle() noexcept
{
    blocks_.remove_if([this](Block& block) {
        return block.users == 0 && !has_to_stay(block.pages) && give_back(block);
    });
}

void UserMemory::release(SharedRange& range) noexcept
{
    const std::lock_guard guard(mutex_);
    if (range.claim_ == SharedRange::Claim::file) {
        foreign_.release({range.device_, range.where_.file.inode});
    } else if (range.claim_ == SharedRange::Claim::as_it_is) {
        const auto [begin, end] = kept_.equal_range(range.range_.first);
        const auto kept = std::find_if(
            begin, end, [&](const auto& one) { return one.second == range.range_.last; });
        if (kept != end) {
            kept_.erase(kept);
        }
    } else if (const auto block = block_around(range.range_); block != blocks_.end()) {
        --block->users;
    }
    give_back_idle();
}

/// What is still mapped of a block in that part of it, where it lies: a program may have unmapped
/// it too early, or have mapped something else there.
std::vector<Area> UserMemory::still_there(const Block& block, Span part)
{
    std::vector<Area> areas = areas_in(part, Detail::mappings);
    std::erase_if(areas, [&](Area& area) {
        const Span whole = area.span;
        area.span = common_part(whole, block.pages);
        area.offset += area.span.first - whole.first;
        return !area.shared || !is_of(area, block.file.identity()) ||
               area.offset != area.span.first - block.pages.first;
    });
    return areas;
}

/// Threads that the program has started meanwhile lose nothing, so they need not be asked about.
/// False: some of it is shared still, which a child of fork has to know; it is tried again.
bool UserMemory::give_back(Block& block) noexcept
{
    bool done = false;
    try {
        const File& file = block.file.file();
        const SignalsBlocked blocked;
        const std::vector<Area> areas = still_there(block, block.pages);
        done = !areas.empty() || kernel_tells();
        for (const Area& area : areas) {
            done = file && move_to_private(area.span, file, area.offset) && done;
        }
    } catch (const std::bad_alloc&) {
        done = false;
    }
    const bool was_shared = std::exchange(block.stays_shared, !done);
    log(done || was_shared ? LogLevel::debug : LogLevel::warn, "%zu bytes of a window %s",
        block.pages.bytes(), done ? "are private again" : "stay shared");
    return done;
}

/// Where the kernel says nothing, all of a block is taken to be there; not of one without a window,
/// where something else may lie by now: what lies there is copied.
void UserMemory::after_fork_in_child() noexcept
{
    for (Block& block : blocks_) {
        const File& file = block.file.file();
        bool told = false;
        try {
            told = !areas_in(block.pages, Detail::mappings).empty();
            for (const Area& area : still_there(block, block.pages)) {
                keep_apart_in_child(area.span.data(), area.span.bytes(), file, area.offset);
            }
        } catch (const std::bad_alloc&) {
            told = false;
        }
        if (!told) {
            const File none;
            keep_apart_in_child(block.pages.data(), block.pages.bytes(),
                                block.users > 0 ? file : none, 0);
        }
    }
    blocks_.clear();
    kept_.clear();
    page_map_.forget();
    mutex_.unlock();
}

} // namespace sidelight::host::memory
