// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/page_uses.hpp"

#include <iterator>

namespace sidelight::host::memory {

/// Sees to it that no entry has `at` in its middle. Splitting says nothing new, so it may stay.
void PageUses::split(Map& uses, std::uintptr_t at)
{
    auto after = uses.upper_bound(at);
    if (after == uses.begin()) {
        return;
    }
    auto& [first, use] = *std::prev(after);
    if (first < at && at < use.last) {
        uses.emplace_hint(after, at, Use{use.last, use.users});
        use.last = at;
    }
}

void PageUses::add(Span pages)
{
    split(uses_, pages.first);
    split(uses_, pages.last);
    // The gaps get entries without users first: a failure leaves those to be taken out again.
    std::vector<std::uintptr_t> made;
    try {
        std::uintptr_t at = pages.first;
        while (at < pages.last) {
            const auto next = uses_.lower_bound(at);
            if (next != uses_.end() && next->first == at) {
                at = next->second.last;
                continue;
            }
            const std::uintptr_t end =
                next == uses_.end() ? pages.last : std::min(next->first, pages.last);
            made.push_back(at);
            uses_.emplace_hint(next, at, Use{end, 0});
            at = end;
        }
    } catch (...) {
        for (const std::uintptr_t first : made) {
            uses_.erase(first);
        }
        throw;
    }
    for (auto use = uses_.lower_bound(pages.first); use != uses_.end() && use->first < pages.last;
         ++use) {
        ++use->second.users;
    }
}

bool PageUses::any(Span pages) const noexcept
{
    const auto after = uses_.lower_bound(pages.last);
    return !pages.empty() && after != uses_.begin() && std::prev(after)->second.last > pages.first;
}

Span PageUses::with_gaps(Span pages, std::size_t widest) const noexcept
{
    Span wide = pages;
    const auto after = uses_.lower_bound(pages.last);
    if (after != uses_.end() && after->first - pages.last <= widest) {
        wide.last = after->first;
    }
    const auto inside = uses_.upper_bound(pages.first);
    if (inside != uses_.begin()) {
        const std::uintptr_t before = std::prev(inside)->second.last;
        if (before <= pages.first && pages.first - before <= widest) {
            wide.first = before;
        }
    }
    return wide;
}

std::vector<Span> PageUses::remove(Span pages)
{
    split(uses_, pages.first);
    split(uses_, pages.last);
    std::vector<Span> unused;
    const auto begin = uses_.lower_bound(pages.first);
    const auto end = uses_.lower_bound(pages.last);
    unused.reserve(static_cast<std::size_t>(std::distance(begin, end)));
    for (auto use = begin; use != end;) {
        if (--use->second.users != 0) {
            ++use;
            continue;
        }
        if (!unused.empty() && unused.back().last == use->first) {
            unused.back().last = use->second.last;
        } else {
            unused.push_back({use->first, use->second.last});
        }
        use = uses_.erase(use);
    }
    return unused;
}

} // namespace sidelight::host::memory
