// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "base/log.hpp"
#include "base/shared_memory.hpp"
#include "host/memory/foreign_files.hpp"
#include "host/memory/page_uses.hpp"
#include "host/memory/replacement.hpp"
#include "host/memory/shareable.hpp"
#include "host/memory/survey.hpp"

namespace sidelight::host::memory {

/// All memory of this process that was made shareable. There is one file, and the page at address A
/// lies in it at offset A: whatever is converted, in whichever pieces, what is one range here is
/// one range there, and what a peer has mapped can never show the pages of another address.
class UserMemory {
public:
    static UserMemory& of_process() noexcept;

    /// Throws std::bad_alloc, with nothing changed.
    SharedRange share(const void* base, std::size_t size, SharePolicy policy, IfPrivate if_private);
    void release(SharedRange& range) noexcept;

    // fork: the child gets private pages with the same contents, and the parent waits for that.
    void before_fork() noexcept;
    void after_fork_in_parent() noexcept;
    void after_fork_in_child() noexcept;

private:
    SharedRange share_surveyed(Span range, SharePolicy policy);
    SharedRange share_foreign(const Survey& survey, Span pages, Span range);
    Refusal convert(Span pages, SharePolicy policy, const ProcessState& state, Survey& survey);
    Refusal convert_surveyed(const Survey& survey, SharePolicy policy, const ProcessState& state);
    [[nodiscard]] bool move_piece(Span piece, Others others, HugePages huge,
                                  bool vouched) const noexcept;
    Refusal prepare_file(std::uintptr_t last);
    SharedRange claim(Span range, Span pages, bool vouched) const noexcept;
    [[nodiscard]] bool file_is_ours() const noexcept;
    [[nodiscard]] std::optional<ShortList<MappedPart>> where_mapped(Span pages,
                                                                    Detail detail) const noexcept;
    [[nodiscard]] bool make_all_private(ShortList<MappedPart> parts, Span pages, Detail detail,
                                        Others others, bool vouched) const noexcept;
    void take_back(Span pages, bool vouched);
    void keep_shared(Span pages, LogLevel level, const char* why);
    void take_back_in_child() noexcept;
    [[nodiscard]] bool is_mapped(Span pages) const noexcept;
    void forget_abandoned() noexcept;
    void empty(Span pages) const noexcept;
    [[nodiscard]] bool make_anonymous(const MappedPart& part, Others others,
                                      bool vouched) const noexcept;
    void punch(Span pages) const noexcept;

    std::mutex mutex_; ///< guards all that follows; held across fork
    File file_;
    FileIdentity identity_;       ///< of file_
    std::uintptr_t end_ = 0;      ///< size of file_
    bool has_huge_pages_ = false; ///< the file; so what is given back may be to have them too
    PageUses uses_;               ///< of pages of file_, and of private ones that must stay
    std::vector<Span> abandoned_; ///< of file_: still mapped by memory that is private now
    ForeignFiles foreign_;
    std::array<int, 2> child_done_{-1, -1}; ///< a pipe, while a fork is going on
};

} // namespace sidelight::host::memory
