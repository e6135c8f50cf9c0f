// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/replacement.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/memory/collapse.hpp"
#include "host/memory/present_pages.hpp"
#include "host/memory/sleepers.hpp"
#include "host/memory/stopped_threads.hpp"
#include "host/memory/survey.hpp"

namespace sidelight::host::memory {
namespace {

constexpr std::size_t huge_alignment = collapsed_page;

// While pages are away there are only plain system calls: a function of the C library may have been
// replaced by a tool's, or by a registration cache's, which might touch the heap.

void* map(std::uintptr_t address, std::size_t bytes, int flags, int descriptor,
          std::uint64_t offset) noexcept
{
    const long result = syscall(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE, flags, descriptor,
                                static_cast<off_t>(offset));
    return reinterpret_cast<void*>(result); // NOLINT: -1 is MAP_FAILED
}

bool move(Span from, std::uintptr_t to, int flags) noexcept
{
    return syscall(SYS_mremap, from.first, from.bytes(), from.bytes(),
                   MREMAP_MAYMOVE | MREMAP_FIXED | flags, to) == static_cast<long>(to);
}

/// Addresses beside the pages, unmapped with their owner unless they were moved away.
class Aside {
public:
    /// At the same place within a huge page as `like`.
    Aside(Span like, bool aligned) noexcept
    {
        const std::size_t slack = aligned ? huge_alignment : 0;
        void* address =
            map(0, like.bytes() + slack, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (address != MAP_FAILED) {
            all_ = span_of(address, like.bytes() + slack);
            const std::uintptr_t shift =
                aligned ? (like.first - all_.first) & (huge_alignment - 1) : 0;
            pages_ = {all_.first + shift, all_.first + shift + like.bytes()};
        }
    }
    ~Aside()
    {
        if (!all_.empty()) {
            syscall(SYS_munmap, all_.first, all_.bytes());
        }
    }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

    [[nodiscard]] explicit operator bool() const noexcept { return !all_.empty(); }
    [[nodiscard]] Span pages() const noexcept { return pages_; }
    /// They are mapped elsewhere now; nothing is left here but what was around them.
    void moved() noexcept
    {
        const Span head{all_.first, pages_.first};
        const Span tail{pages_.last, all_.last};
        for (const Span rest : {head, tail}) {
            if (!rest.empty()) {
                syscall(SYS_munmap, rest.first, rest.bytes());
            }
        }
        all_ = {};
    }

private:
    Span all_;
    Span pages_;
};

/// Registration caches that watch what is mapped learn that these addresses change: this is what
/// they see of a program that moves them, and does nothing.
void announce(Span pages) noexcept
{
    [[maybe_unused]] void* same = mremap(pages.data(), pages.bytes(), pages.bytes(), 0);
}

/// Replaces `pages` by what is mapped at `from`. Should the kernel have no memory for that, there
/// may be nothing at `pages` any more.
bool put_in_place(Aside& from, Span pages) noexcept
{
    const bool moved = move(from.pages(), pages.first, 0);
    if (moved) {
        from.moved();
    }
    return moved;
}

/// Maps the file over whatever is there, or nothing; `how`: MAP_SHARED or MAP_PRIVATE.
bool map_over(Span pages, const File& file, std::uint64_t offset, int how) noexcept
{
    return map(pages.first, pages.bytes(), how | MAP_FIXED, file.descriptor(), offset) !=
           MAP_FAILED;
}

/// Copies the pages that lie at `source` into the file, through `view` where that is huge.
bool fill(PresentPages& present, Span view, const File& file, std::uint64_t offset,
          HugePages huge) noexcept
{
    const Span source = present.pages();
    Collapse collapse(view);
    Span run;
    while (present.next(run)) {
        const std::uintptr_t at = run.first - source.first;
        const Span target{view.first + at, view.first + at + run.bytes()};
        if ((huge == HugePages::none && !write_all(file, run, offset + at)) ||
            (huge == HugePages::collapsed && !collapse.make(target))) {
            return false;
        }
        // Where the kernel is too old for this, the first access to each page takes a fault.
        [[maybe_unused]] const long populated =
            syscall(SYS_madvise, target.first, target.bytes(), MADV_POPULATE_WRITE);
        if (huge != HugePages::none) {
            std::memcpy(target.data(), run.data(), run.bytes());
        }
    }
    return present.good();
}

/// Other threads stand still from `begin` on, where that is asked for.
class Standstill {
public:
    Standstill(Others others, Span pages, const Backing& backing) noexcept
        : asked_(others == Others::stop),
          pages_(pages),
          backing_(backing),
          maps_(asked_ ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1)
    {}

    /// False, with errno: they do not, or one has mapped something else there in the last moment.
    bool begin() noexcept
    {
        if (!asked_) {
            return true;
        }
        stopped_ = StoppedThreads::stop();
        if (stopped_ && !are_backed_by(backing_, pages_, maps_)) {
            stopped_.resume();
            errno = EAGAIN;
        }
        return static_cast<bool>(stopped_);
    }
    /// To be asked before what was copied becomes what counts.
    bool has_lasted() noexcept
    {
        const bool lasted = !asked_ || stopped_.stand_still();
        errno = lasted ? errno : EAGAIN;
        return lasted;
    }

private:
    bool asked_;
    Span pages_;
    Backing backing_;
    File maps_;
    StoppedThreads stopped_;
};

} // namespace

bool move_to_file(Span pages, const File& file, Others others, HugePages huge) noexcept
{
    const bool aligned = huge != HugePages::none;
    Aside view(pages, aligned);
    if (!view || !map_over(view.pages(), file, pages.first, MAP_SHARED)) {
        return false;
    }
    if (aligned) {
        syscall(SYS_madvise, view.pages().first, pages.bytes(), MADV_HUGEPAGE);
    }
    announce(pages);
    PresentPages present(pages); // opens a file, as the next line does: before the stop
    Standstill standstill(others, pages, {});
    return standstill.begin() && fill(present, view.pages(), file, pages.first, huge) &&
           standstill.has_lasted() &&
           (put_in_place(view, pages) || map_over(pages, file, pages.first, MAP_SHARED));
}

bool move_to_private(Span pages, const File& file, std::uint64_t offset, Others others,
                     bool huge) noexcept
{
    Aside copy(pages, true);
    if (!copy) {
        return false;
    }
    if (huge) {
        syscall(SYS_madvise, copy.pages().first, pages.bytes(), MADV_HUGEPAGE);
    }
    announce(pages);
    Standstill standstill(others, pages, {identity_of(file), offset});
    if (!standstill.begin()) {
        return false;
    }
    FileData data(file, offset, pages.bytes());
    FileData::Run run;
    while (data.next(run)) {
        const Span part{copy.pages().first + run.at, copy.pages().first + run.at + run.bytes};
        if (!read_all(file, part, offset + run.at)) {
            return false;
        }
    }
    if (!data.good() || !standstill.has_lasted()) {
        return false;
    }
    const bool done = put_in_place(copy, pages);
    const int reason = errno;
    if (!done) {
        map_over(pages, file, offset, MAP_SHARED); // as it was
        errno = reason;
    }
    return done;
}

bool make_private(Span pages, const File& file, std::uint64_t offset) noexcept
{
    const Sleepers sleepers(pages, file, offset);
    if (!sleepers || !map_over(pages, file, offset, MAP_PRIVATE)) {
        return false;
    }
    sleepers.wake();
    return true;
}

bool copy_to_private(Span pages) noexcept
{
    Aside copy(pages, false);
    if (!copy) {
        return false;
    }
    std::memcpy(copy.pages().data(), pages.data(), pages.bytes());
    return put_in_place(copy, pages);
}

namespace {

/// There and back, with a page that is written and one that is a hole.
bool rehearse(Others others) noexcept
{
    const Mapping scratch = Mapping::anonymous(2 * page_size());
    const File file = create_memory_file();
    if (!scratch || !file) {
        return false;
    }
    const Span pages = span_of(scratch.data(), scratch.bytes());
    constexpr std::byte mark{0x5A};
    scratch.data()[1] = mark;
    return grow(file, pages.last) && move_to_file(pages, file, others, HugePages::none) &&
           scratch.data()[1] == mark && move_to_private(pages, file, pages.first, others, false) &&
           scratch.data()[1] == mark;
}

/// What has failed may work another time, unless it is forbidden.
bool can_stop() noexcept
{
    enum class Known : std::uint8_t { nothing, yes, no };
    static std::atomic<Known> known{Known::nothing};
    if (known == Known::nothing) {
        const bool stopped = rehearse(Others::stop);
        const bool forbidden = errno == EPERM || errno == ENOTSUP || errno == ENOSYS;
        known = stopped ? Known::yes : forbidden ? Known::no : Known::nothing;
    }
    return known == Known::yes;
}

} // namespace

bool can_replace(Others others) noexcept
{
    static const bool alone = rehearse(Others::none);
    return others == Others::none ? alone : can_stop();
}

} // namespace sidelight::host::memory
