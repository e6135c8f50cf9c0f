// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/shared_memory.hpp"
#include "host/memory/address_space.hpp"
#include "host/memory/huge_pages.hpp"
#include "host/memory/rules.hpp"
#include "host/memory/span.hpp"

namespace sidelight::host::memory {

/// A file, whatever its name.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;

    [[nodiscard]] bool is_behind(const Area& area) const noexcept
    {
        return inode != 0 && area.inode == inode && area.device == device;
    }
    bool operator==(const FileIdentity&) const = default;
};
/// None where it is not open.
[[nodiscard]] FileIdentity identity_of(const File& file) noexcept;

/// A list in place: what is found may be the heap itself.
template <typename T>
class ShortList {
public:
    [[nodiscard]] bool add(const T& item) noexcept
    {
        if (count_ == items_.size()) {
            return false;
        }
        items_[count_++] = item;
        return true;
    }
    [[nodiscard]] const T* begin() const noexcept { return items_.data(); }
    [[nodiscard]] const T* end() const noexcept { return items_.data() + count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] bool full() const noexcept { return count_ == items_.size(); }

private:
    std::array<T, 64> items_{};
    std::size_t count_ = 0;
};

/// What lies in a range of pages.
struct Survey {
    enum class Kind : std::uint8_t {
        mixed,   ///< private memory, and perhaps pages of ours
        ours,    ///< all of it is mapped from our file, each page from the offset of its address
        foreign, ///< one other file, shared, without a break
    };
    Refusal refusal = Refusal::none;
    Kind kind = Kind::mixed;
    ShortList<Span> pieces;           ///< mixed: what is not ours yet, each a part of one area
    Span pages;                       ///< mixed: grown to whole huge pages
    HugePages huge = HugePages::none; ///< mixed: what the replacement is to have
    FileIdentity file;                ///< foreign
    std::uint64_t offset = 0;         ///< foreign: of the first page
    Span first_area;                  ///< foreign
};

/// Looks at the mappings alone. Says nothing about whether private memory may be replaced.
[[nodiscard]] Survey survey_mappings(Span pages, const FileIdentity& ours) noexcept;

/// Looks at each page that is to be replaced. `may_be_slower`: whether huge pages may be lost.
[[nodiscard]] Survey survey_private(Span pages, const FileIdentity& ours,
                                    bool may_be_slower) noexcept;

/// Where pages of a file are mapped, wherever that is.
struct MappedPart {
    Span pages;
    std::uint64_t offset;
    bool huge; ///< with advice to use huge pages, where flags were looked at
};
enum class Mapped : std::uint8_t {
    shared,
    privately_too, ///< also where what is written stays private
};
/// `at`: within these addresses. The list may be full: then there may be more. Not set: the kernel
/// does not tell.
[[nodiscard]] std::optional<ShortList<MappedPart>>
mapped_parts(const FileIdentity& file, Span offsets, Span at, Detail detail,
             Mapped how = Mapped::shared) noexcept;

/// What is behind pages: a shared file, from `offset` on, or private memory.
struct Backing {
    FileIdentity file{};
    std::uint64_t offset = 0;
};
/// Whether that is still behind all of these pages, and they can be read and written. Reads `maps`,
/// /proc/self/maps from its beginning, and nothing else: threads may stand still meanwhile.
[[nodiscard]] bool are_backed_by(const Backing& backing, Span pages, const File& maps) noexcept;

} // namespace sidelight::host::memory
