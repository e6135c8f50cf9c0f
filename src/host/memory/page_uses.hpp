// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "host/memory/span.hpp"

namespace sidelight::host::memory {

/// How many ranges use each page: ranges overlap, and small ones share a page. An entry is a run of
/// pages with as many users.
class PageUses {
public:
    /// Throws std::bad_alloc, and then nothing has changed.
    void add(Span pages);
    /// Takes back one `add` of these pages. Answers the parts that nobody uses any more, which are
    /// forgotten. Pages without users are passed over. Throws std::bad_alloc, and then nothing has
    /// changed.
    std::vector<Span> remove(Span pages);

    /// Whether any of these pages has a user.
    [[nodiscard]] bool any(Span pages) const noexcept;
    /// The pages and what lies between them and the nearest used ones, before and after, where that
    /// is no more than so many bytes.
    [[nodiscard]] Span with_gaps(Span pages, std::size_t widest) const noexcept;
    void clear() noexcept { uses_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return uses_.empty(); }
    /// Runs of pages with as many users: about as many as there are ranges.
    [[nodiscard]] std::size_t runs() const noexcept { return uses_.size(); }

private:
    struct Use {
        std::uintptr_t last;
        std::uint64_t users;
    };
    using Map = std::map<std::uintptr_t, Use>;
    static void split(Map& uses, std::uintptr_t at);

    Map uses_;
};

} // namespace sidelight::host::memory
