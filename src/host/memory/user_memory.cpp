// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/user_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/signals.hpp"

namespace sidelight::host::memory {
namespace {

constexpr Span everywhere{0, UINTPTR_MAX};
/// Of the addresses that programs get unless they ask for others. The file is sparse; what realloc
/// maps behind pages of it is there, too.
constexpr std::uintptr_t ordinary_end = std::uintptr_t{1} << 48;
// See UserMemory::convert.
constexpr std::size_t many_ranges = 64;
constexpr std::size_t widest_gap = std::size_t{64} << 10; ///< bytes

bool file_size_is_limited() noexcept
{
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

/// What this thread itself uses at any moment, also in the kernel: its control block and errno.
bool holds_own_state(Span pages) noexcept
{
    return pages.holds(static_cast<std::uintptr_t>(pthread_self())) ||
           pages.holds(reinterpret_cast<std::uintptr_t>(&errno));
}

/// Whether the process as it is allows it. Threads come last, and nothing is tried with them where
/// there is another reason. The limit comes before: what fails because of it would count as
/// impossible from then on.
Refusal refusal_of_process(const ProcessState& state, SharePolicy policy) noexcept
{
    const Refusal refusal = refusal_of(state, policy, true);
    if (refusal != Refusal::none) {
        return refusal;
    }
    if (file_size_is_limited()) {
        return Refusal::file_limit;
    }
    return refusal_of(state, policy, state.threads > 1 && can_replace(Others::stop));
}

/// What can be seen before anything is replaced.
Refusal refusal_before(Span pages, Others others) noexcept
{
    if (holds_own_state(pages)) {
        return Refusal::stack;
    }
    return can_replace(others) ? Refusal::none : Refusal::system;
}

/// How other threads are kept away; `vouched`: the user says that they do not come.
Others others_of(const ProcessState& state, bool vouched) noexcept
{
    const bool alone = state.threads == 1 || (vouched && !can_replace(Others::stop));
    return alone ? Others::none : Others::stop;
}

/// Whether threads could not be stopped, and not something else has failed.
bool is_of_threads(int reason) noexcept
{
    return reason == EPERM || reason == EBUSY || reason == ETIMEDOUT || reason == EAGAIN;
}

bool vouches(SharePolicy policy) noexcept { return policy == SharePolicy::always; }

} // namespace

UserMemory& UserMemory::of_process() noexcept
{
    // Never destroyed: windows may be freed after static objects are gone.
    alignas(UserMemory) static std::array<std::byte, sizeof(UserMemory)> place;
    static auto* memory = new (place.data()) UserMemory;
    return *memory;
}

SharedRange UserMemory::share(const void* base, std::size_t size, SharePolicy policy,
                              IfPrivate if_private)
{
    const Span range = span_of(base, size);
    if (range.empty() || range.last > UINTPTR_MAX - page_size()) {
        return SharedRange(Refusal::no_memory_there);
    }
    const std::lock_guard guard(mutex_);
    const SignalsBlocked blocked; // a handler might touch what is replaced, or start a thread
    SharedRange shared = share_surveyed(range, policy);
    if (!shared && if_private == IfPrivate::keep) {
        const Span pages = pages_of(range, page_size());
        uses_.add(pages);
        shared.pages_ = pages;
        shared.vouched_ = vouches(policy);
    }
    return shared;
}

SharedRange UserMemory::share_surveyed(Span range, SharePolicy policy)
{
    Span pages = pages_of(range, page_size());
    Survey survey = survey_mappings(pages, identity_);
    if (survey.refusal != Refusal::none) {
        return SharedRange(survey.refusal);
    }
    if (survey.kind == Survey::Kind::foreign) {
        return share_foreign(survey, pages, range);
    }
    if (survey.kind == Survey::Kind::mixed) {
        const ProcessState state = process_state();
        Refusal refusal = refusal_of_process(state, policy);
        if (refusal == Refusal::none) {
            refusal = convert(pages, policy, state, survey);
        }
        if (refusal != Refusal::none) {
            return SharedRange(refusal);
        }
        pages = survey.pages;
    } else {
        if (!file_is_ours()) {
            return SharedRange(Refusal::unreachable);
        }
        uses_.add(pages);
    }
    return claim(range, pages, vouches(policy));
}

SharedRange UserMemory::claim(Span range, Span pages, bool vouched) const noexcept
{
    SharedRange claimed(Refusal::none);
    claimed.where_ = {address_of(file_), range.first, range.bytes()};
    claimed.pages_ = pages;
    claimed.vouched_ = vouched;
    return claimed;
}

SharedRange UserMemory::share_foreign(const Survey& survey, Span pages, Span range)
{
    const int descriptor = foreign_.acquire(survey.file, survey.first_area);
    if (descriptor < 0) {
        return SharedRange(Refusal::unreachable);
    }
    SharedRange claimed(Refusal::none);
    claimed.where_ = {{getpid(), descriptor, survey.file.inode},
                      survey.offset + (range.first - pages.first),
                      range.bytes()};
    claimed.device_ = survey.file.device;
    return claimed;
}

/// Where there are many ranges already, what lies between a new one and its neighbours is taken
/// along if that can be. Else each of a thousand windows in a heap would cut a mapping out of it,
/// and the kernel goes through all mappings before a range whenever it is asked about that range.
Refusal UserMemory::convert(Span pages, SharePolicy policy, const ProcessState& state,
                            Survey& survey)
{
    Refusal refusal = Refusal::none;
    const bool many = uses_.runs() >= many_ranges;
    for (const Span tried : {many ? uses_.with_gaps(pages, widest_gap) : pages, pages}) {
        survey = survey_private(tried, identity_, vouches(policy));
        refusal = survey.refusal;
        if (refusal == Refusal::none) {
            refusal = convert_surveyed(survey, policy, state);
        }
        if (refusal == Refusal::none || tried == pages) {
            break;
        }
    }
    return refusal;
}

/// Adds the claim as well: `survey.pages` are in use afterwards, or nothing has changed.
Refusal UserMemory::convert_surveyed(const Survey& survey, SharePolicy policy,
                                     const ProcessState& state)
{
    const Others others = others_of(state, vouches(policy));
    if (const Refusal refusal = refusal_before(survey.pages, others); refusal != Refusal::none) {
        return refusal;
    }
    if (const Refusal refusal = prepare_file(survey.pages.last); refusal != Refusal::none) {
        return refusal;
    }
    for (const Span piece : survey.pieces) {
        // To be kept, or unmapped while it is in a window; or its place in the file is taken: by
        // pages that were left behind, or what realloc has mapped behind pages that it has moved.
        if (uses_.any(piece) || is_mapped(piece)) {
            return Refusal::in_use;
        }
    }
    uses_.add(survey.pages);
    has_huge_pages_ = has_huge_pages_ || survey.huge != HugePages::none;
    for (const Span piece : survey.pieces) {
        punch(piece);
        if (!move_piece(piece, others, survey.huge, vouches(policy))) {
            const int reason = errno;
            for (const Span unused : uses_.remove(survey.pages)) {
                take_back(unused, vouches(policy));
            }
            errno = reason;
            return others == Others::stop && is_of_threads(reason) ? Refusal::threads
                                                                   : Refusal::system;
        }
    }
    return Refusal::none;
}

/// The second best will do for who vouches: threads that go on, and then small pages.
bool UserMemory::move_piece(Span piece, Others others, HugePages huge, bool vouched) const noexcept
{
    if (move_to_file(piece, file_, others, huge)) {
        return true;
    }
    if (!vouched) {
        return false;
    }
    const Others second = others == Others::stop ? Others::none : others;
    return (second != others && move_to_file(piece, file_, second, huge)) ||
           (huge == HugePages::collapsed && move_to_file(piece, file_, second, HugePages::none));
}

/// Sees to it that there is a file, up to the address `last`.
Refusal UserMemory::prepare_file(std::uintptr_t last)
{
    if (!file_) {
        file_ = create_memory_file();
        identity_ = identity_of(file_);
    }
    if (!file_ || !file_is_ours()) {
        return Refusal::system;
    }
    if (last > end_) {
        const std::uintptr_t end = std::max(last, ordinary_end);
        end_ = grow(file_, end) ? end : grow(file_, last) ? last : 0;
    }
    return last <= end_ ? Refusal::none : Refusal::system;
}

/// The program may have closed the descriptor, and opened another file in its place.
bool UserMemory::file_is_ours() const noexcept { return identity_of(file_) == identity_; }

/// Whether these pages of the file are mapped anywhere, also by memory that is private now. Yes,
/// where the kernel does not tell.
bool UserMemory::is_mapped(Span pages) const noexcept
{
    const auto parts =
        mapped_parts(identity_, pages, everywhere, Detail::mappings, Mapped::privately_too);
    return !parts || !parts->empty();
}

/// Of memory that was left behind with pages of the file, and is no more.
void UserMemory::forget_abandoned() noexcept
{
    const auto gone = [this](Span pages) {
        const bool unmapped = !is_mapped(pages);
        if (unmapped) {
            punch(pages);
        }
        return unmapped;
    };
    abandoned_.erase(std::remove_if(abandoned_.begin(), abandoned_.end(), gone), abandoned_.end());
}

void UserMemory::punch(Span pages) const noexcept
{
    [[maybe_unused]] const int result =
        fallocate(file_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(pages.first), static_cast<off_t>(pages.bytes()));
}

void UserMemory::release(SharedRange& range) noexcept
{
    const std::lock_guard guard(mutex_);
    const SignalsBlocked blocked;
    if (range && range.pages_.empty()) {
        foreign_.release({range.device_, range.where_.file.inode});
        return;
    }
    try {
        for (const Span unused : uses_.remove(range.pages_)) {
            take_back(unused, range.vouched_);
        }
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn, "no memory: %zu bytes stay as they are", range.pages_.bytes());
    }
}

/// Where these pages of the file are mapped: mostly at their addresses, but a program may have
/// moved them with realloc. The whole address space is looked at only if they are not all in place.
/// Not set: nobody knows.
std::optional<ShortList<MappedPart>> UserMemory::where_mapped(Span pages,
                                                              Detail detail) const noexcept
{
    const auto in_place = mapped_parts(identity_, pages, pages, detail);
    std::size_t bytes = 0;
    for (const MappedPart& part : in_place.value_or(ShortList<MappedPart>())) {
        bytes += part.offset == part.pages.first ? part.pages.bytes() : 0;
    }
    return bytes == pages.bytes() ? in_place : mapped_parts(identity_, pages, everywhere, detail);
}

/// Makes these pages of the file private again, wherever they are mapped; others it leaves alone.
/// Throws std::bad_alloc.
void UserMemory::take_back(Span pages, bool vouched)
{
    if (!file_) {
        return;
    }
    if (!file_is_ours()) {
        keep_shared(pages, LogLevel::warn, "the program has closed our file");
        return;
    }
    forget_abandoned();
    const Detail detail = has_huge_pages_ ? Detail::flags : Detail::mappings;
    const auto parts = where_mapped(pages, detail);
    if (parts && parts->empty()) { // private all along, or gone
        empty(pages);
        return;
    }
    const ProcessState state = process_state();
    const bool pinned = is_pinned(state) && !vouched;
    if (!parts || pinned) {
        keep_shared(pages, LogLevel::info,
                    pinned ? text(Refusal::pinned) : "the kernel does not tell where they are");
        return;
    }
    abandoned_.reserve(abandoned_.size() + 1);
    if (make_all_private(*parts, pages, detail, others_of(state, vouched), vouched)) {
        empty(pages);
    } else {
        abandoned_.push_back(pages);
    }
}

/// For good.
void UserMemory::keep_shared(Span pages, LogLevel level, const char* why)
{
    log(level, "%zu bytes stay shared: %s", pages.bytes(), why);
    uses_.add(pages);
}

/// Whether nobody maps these pages of the file any more.
bool UserMemory::make_all_private(ShortList<MappedPart> parts, Span pages, Detail detail,
                                  Others others, bool vouched) const noexcept
{
    bool all = true;
    bool can_stop = true; // what fails may have taken a second
    for (bool more = true; more;) {
        bool progress = false;
        for (const MappedPart& part : parts) {
            const bool anonymous = can_stop && make_anonymous(part, others, vouched);
            can_stop = can_stop && (anonymous || !is_of_threads(errno));
            all = all && anonymous;
            progress = anonymous || make_private(part.pages, file_, part.offset) || progress;
        }
        more = parts.full() && progress;
        if (more) {
            const auto rest = where_mapped(pages, detail);
            all = all && rest;
            parts = rest.value_or(ShortList<MappedPart>());
        }
    }
    return all;
}

bool UserMemory::make_anonymous(const MappedPart& part, Others others, bool vouched) const noexcept
{
    return can_replace(others) &&
           (move_to_private(part.pages, file_, part.offset, others, part.huge) ||
            (vouched && others == Others::stop &&
             move_to_private(part.pages, file_, part.offset, Others::none, part.huge)));
}

/// Nobody shares these pages of the file any more; memory that was left behind may show them.
void UserMemory::empty(Span pages) const noexcept
{
    if (abandoned_.empty() || !is_mapped(pages)) {
        punch(pages);
    }
}

void UserMemory::before_fork() noexcept
{
    mutex_.lock();
    if (file_ && !(uses_.empty() && abandoned_.empty()) &&
        pipe2(child_done_.data(), O_CLOEXEC) != 0) {
        child_done_ = {-1, -1};
        log(LogLevel::warn, "fork: the child may see later changes of shared pages: %s",
            std::strerror(errno));
    }
}

void UserMemory::after_fork_in_parent() noexcept
{
    if (child_done_[0] >= 0) {
        close(child_done_[1]);
        char byte = 0;
        while (read(child_done_[0], &byte, 1) < 0 && errno == EINTR) {
        }
        close(child_done_[0]);
        child_done_ = {-1, -1};
    }
    mutex_.unlock();
}

void UserMemory::after_fork_in_child() noexcept
{
    if (file_) {
        const SignalsBlocked blocked;
        take_back_in_child();
    }
    uses_.clear();
    abandoned_.clear();
    file_ = File();
    identity_ = {};
    end_ = 0;
    if (child_done_[0] >= 0) {
        const char byte = 1;
        [[maybe_unused]] const ssize_t told = write(child_done_[1], &byte, 1);
        close(child_done_[0]);
        close(child_done_[1]);
        child_done_ = {-1, -1};
    }
    mutex_.unlock();
}

/// All of them, also what the program has moved since. What keeps account of them may itself lie
/// there.
void UserMemory::take_back_in_child() noexcept
{
    const bool ours = file_is_ours();
    for (bool progress = true; progress;) {
        progress = false;
        const auto parts = mapped_parts(identity_, everywhere, everywhere, Detail::mappings);
        if (!parts) {
            log(LogLevel::warn, "fork: pages may stay shared with the parent: nobody tells where "
                                "they are");
        }
        for (const MappedPart& part : parts.value_or(ShortList<MappedPart>())) {
            const bool done =
                ours ? move_to_private(part.pages, file_, part.offset, Others::none, false)
                     : copy_to_private(part.pages);
            progress = progress || done;
            if (!done) {
                log(LogLevel::warn, "fork: %zu bytes stay shared with the parent: %s",
                    part.pages.bytes(), std::strerror(errno));
            }
        }
    }
    if (!ours) {
        file_.release(); // it is the program's
    }
}

} // namespace sidelight::host::memory
