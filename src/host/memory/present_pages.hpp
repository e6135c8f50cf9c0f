// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/held_file.hpp"
#include "host/memory/rules.hpp"
#include "host/memory/span.hpp"

namespace sidelight::host::memory {

/// Runs of private pages of this process that hold something, so that sparse memory stays sparse.
/// Pages that were never written, also if they were read, are left out. The span begins and ends at
/// pages. Nothing here allocates.
class PresentPages {
public:
    explicit PresentPages(Span pages) noexcept;

    [[nodiscard]] bool next(Span& run) noexcept;
    /// Whether the kernel told. Else `next` ended too early.
    [[nodiscard]] bool good() const noexcept { return good_; }
    /// Whether one of the pages so far is also mapped by another process.
    [[nodiscard]] bool any_shared() const noexcept { return any_shared_; }

private:
    [[nodiscard]] bool holds_something(std::uintptr_t address) noexcept;
    bool refill(std::uintptr_t address) noexcept;

    File map_;
    Span rest_;
    Span known_; ///< what `entries_` tells about
    std::array<std::uint64_t, 512> entries_{};
    bool good_;
    bool any_shared_ = false;
};

/// Whether one of these private pages tells against replacing them: it is still shared with a
/// process that was forked, or lies on another NUMA node than its copy would.
[[nodiscard]] Refusal refusal_of_pages(Span pages) noexcept;

/// What the kernel says of single pages. Its file stays open, where the process may have others
/// beside it, so that a window that is made costs no opening. Not for several threads at once.
class PageMap {
public:
    /// Whether the page is there and private. False also where nobody knows.
    [[nodiscard]] bool is_private(std::uintptr_t address) noexcept;
    /// In a child of fork, where the file tells about the parent.
    void forget() noexcept { file_ = HeldFile(); }

private:
    HeldFile file_;
    std::optional<bool> may_keep_; ///< whether the process may have others beside it
};

} // namespace sidelight::host::memory
