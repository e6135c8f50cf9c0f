// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/survey.hpp"

#include <algorithm>

#include <sys/stat.h>

#include "host/memory/collapse.hpp"

namespace sidelight::host::memory {
namespace {

/// Bytes: glibc gives blocks from this size on pages of their own.
constexpr std::size_t least_moved = std::size_t{128} << 10;

/// Whether each page comes from the offset that is its address.
bool is_ours(const Area& area, const FileIdentity& ours) noexcept
{
    return area.shared && ours.is_behind(area) && area.offset == area.span.first;
}

/// Sees to it that there is no gap between the areas.
class Coverage {
public:
    explicit Coverage(Span pages) noexcept : pages_(pages), end_(pages.first) {}

    bool add(const Area& area) noexcept
    {
        const bool joined = area.span.first <= end_;
        end_ = joined ? area.span.last : end_;
        return joined;
    }
    [[nodiscard]] bool complete() const noexcept { return end_ >= pages_.last; }

private:
    Span pages_;
    std::uintptr_t end_;
};

class MappingsVisitor final : public AreaVisitor {
public:
    MappingsVisitor(Span pages, const FileIdentity& ours) noexcept
        : pages_(pages), ours_(ours), coverage_(pages)
    {}

    bool visit(const Area& area) noexcept override
    {
        if (!coverage_.add(area)) {
            return false;
        }
        if (first_) {
            survey_.file = {area.device, area.inode};
            survey_.offset = area.offset + (pages_.first - area.span.first);
            survey_.first_area = area.span;
        }
        first_ = false;
        const bool mine = is_ours(area, ours_);
        all_ours_ = all_ours_ && mine;
        const std::uint64_t expected = survey_.offset + area.span.first - pages_.first;
        one_file_ = one_file_ && area.shared && survey_.file.is_behind(area) &&
                    area.offset == expected && !mine;
        any_shared_ = any_shared_ || (area.shared && !mine);
        writable_ = writable_ && area.readable && area.writable;
        return true;
    }

    Survey result() noexcept
    {
        if (!coverage_.complete()) {
            survey_.refusal = Refusal::no_memory_there;
        } else if (!writable_) {
            survey_.refusal = Refusal::not_writable;
        } else if (all_ours_) {
            survey_.kind = Survey::Kind::ours;
        } else if (one_file_) {
            survey_.kind = Survey::Kind::foreign;
        } else if (any_shared_) {
            survey_.refusal = Refusal::file;
        }
        survey_.pages = pages_;
        return survey_;
    }

private:
    Span pages_;
    FileIdentity ours_;
    Coverage coverage_;
    Survey survey_;
    bool first_ = true;
    bool all_ours_ = true;
    bool one_file_ = true;
    bool any_shared_ = false;
    bool writable_ = true;
};

class PrivateVisitor final : public AreaVisitor {
public:
    PrivateVisitor(Span pages, const FileIdentity& ours, bool may_be_slower) noexcept
        : pages_(pages), ours_(ours), coverage_(pages), may_be_slower_(may_be_slower)
    {
        survey_.pages = pages;
    }

    bool visit(const Area& area) noexcept override
    {
        if (!coverage_.add(area)) {
            return false;
        }
        if (is_ours(area, ours_)) {
            return true;
        }
        survey_.refusal = refusal_of(area, reinterpret_cast<std::uintptr_t>(this));
        if (survey_.refusal != Refusal::none) {
            return false;
        }
        Span piece = common_part(area.span, pages_);
        if (touches_huge_page(area, piece, huge_)) {
            survey_.refusal = keep_huge(area, piece);
        }
        if (survey_.refusal == Refusal::none && !survey_.pieces.add(piece)) {
            survey_.refusal = Refusal::too_split;
        }
        return survey_.refusal == Refusal::none;
    }

    Survey result() noexcept
    {
        if (survey_.refusal == Refusal::none && !coverage_.complete()) {
            survey_.refusal = Refusal::no_memory_there;
        }
        return survey_;
    }

private:
    /// A huge page is replaced whole or not at all.
    Refusal keep_huge(const Area& area, Span& piece) noexcept
    {
        const bool advised = shared_ != SharedHugePages::never && huge_ != 0;
        if (!advised && !can_collapse()) {
            return may_be_slower_ ? Refusal::none : Refusal::huge_pages;
        }
        const Span whole = with_huge_pages(area, piece);
        if (!advised && !may_be_slower_ && !all_huge_pages_touched(whole, huge_)) {
            return Refusal::huge_pages_to_come;
        }
        piece = whole;
        survey_.pages.first = std::min(survey_.pages.first, piece.first);
        survey_.pages.last = std::max(survey_.pages.last, piece.last);
        survey_.huge = advised ? HugePages::advised : HugePages::collapsed;
        return Refusal::none;
    }

    /// What the huge pages at either end hold beside it is taken along, unless a block of the
    /// program could lie there which realloc moves by its pages: behind them in the file are those
    /// of other addresses.
    [[nodiscard]] Span with_huge_pages(const Area& area, Span piece) const noexcept
    {
        const Span outer = common_part(area.span, pages_of(piece, huge_));
        return {piece.first - outer.first < least_moved ? outer.first : piece.first,
                outer.last - piece.last < least_moved ? outer.last : piece.last};
    }

    Span pages_;
    FileIdentity ours_;
    Coverage coverage_;
    bool may_be_slower_;
    SharedHugePages shared_ = shared_huge_pages();
    std::size_t huge_ = huge_page_size();
    Survey survey_;
};

class PartsVisitor final : public AreaVisitor {
public:
    PartsVisitor(const FileIdentity& file, Span offsets, Mapped how) noexcept
        : file_(file), offsets_(offsets), how_(how)
    {}

    bool visit(const Area& area) noexcept override
    {
        if ((how_ == Mapped::shared && !area.shared) || !file_.is_behind(area)) {
            return true;
        }
        const Span all{area.offset, area.offset + area.span.bytes()};
        const Span part = common_part(all, offsets_);
        if (part.empty()) {
            return true;
        }
        const std::uintptr_t first = area.span.first + (part.first - all.first);
        return parts_.add({{first, first + part.bytes()}, part.first, has_flag(area, "hg")});
    }

    [[nodiscard]] const ShortList<MappedPart>& parts() const noexcept { return parts_; }

private:
    FileIdentity file_;
    Span offsets_;
    Mapped how_;
    ShortList<MappedPart> parts_;
};

/// Whether areas follow one another without a break, with what is behind them.
class BackingVisitor final : public AreaVisitor {
public:
    BackingVisitor(const Backing& backing, Span pages) noexcept
        : file_(backing.file), begin_(backing.offset - pages.first), rest_(pages)
    {}

    bool visit(const Area& area) noexcept override
    {
        const bool same = area.span.first <= rest_.first && area.readable && area.writable &&
                          (file_.inode != 0 ? is_of_file(area) : is_anonymous(area));
        if (same) {
            rest_.first = std::min(area.span.last, rest_.last);
        }
        return same;
    }
    [[nodiscard]] bool all() const noexcept { return rest_.empty(); }

private:
    [[nodiscard]] bool is_of_file(const Area& area) const noexcept
    {
        return area.shared && file_.is_behind(area) && area.offset - area.span.first == begin_;
    }
    static bool is_anonymous(const Area& area) noexcept
    {
        return !area.shared && area.inode == 0 && area.device == 0;
    }

    FileIdentity file_;
    std::uint64_t begin_; ///< offset at address 0
    Span rest_;
};

} // namespace

FileIdentity identity_of(const File& file) noexcept
{
    struct stat status {};
    return file && fstat(file.descriptor(), &status) == 0
               ? FileIdentity{status.st_dev, status.st_ino}
               : FileIdentity{};
}

Survey survey_mappings(Span pages, const FileIdentity& ours) noexcept
{
    MappingsVisitor visitor(pages, ours);
    visit_areas(pages, Detail::mappings, visitor);
    return visitor.result();
}

Survey survey_private(Span pages, const FileIdentity& ours, bool may_be_slower) noexcept
{
    PrivateVisitor visitor(pages, ours, may_be_slower);
    visit_areas(pages, Detail::flags, visitor);
    return visitor.result();
}

std::optional<ShortList<MappedPart>> mapped_parts(const FileIdentity& file, Span offsets, Span at,
                                                  Detail detail, Mapped how) noexcept
{
    PartsVisitor visitor(file, offsets, how);
    const bool told = visit_areas(at, detail, visitor);
    return told ? std::optional(visitor.parts()) : std::nullopt;
}

bool are_backed_by(const Backing& backing, Span pages, const File& maps) noexcept
{
    BackingVisitor visitor(backing, pages);
    return visit_areas(maps.descriptor(), pages, visitor) && visitor.all();
}

} // namespace sidelight::host::memory
