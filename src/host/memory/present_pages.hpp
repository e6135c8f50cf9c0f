// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "base/shared_memory.hpp"
#include "host/memory/span.hpp"

/// Which pages hold something, so that sparse memory stays sparse. Nothing here allocates.
namespace sidelight::host::memory {

/// Runs of private pages of this process that hold something. Pages that were never written, also
/// if they were read, are left out. The span begins and ends at pages.
class PresentPages {
public:
    explicit PresentPages(Span pages) noexcept;

    [[nodiscard]] bool next(Span& run) noexcept;
    [[nodiscard]] Span pages() const noexcept { return all_; }
    /// Whether the kernel told. Else `next` ended too early.
    [[nodiscard]] bool good() const noexcept { return good_; }

private:
    [[nodiscard]] bool holds_something(std::uintptr_t address) noexcept;
    bool refill(std::uintptr_t address) noexcept;

    File map_;
    Span all_;
    Span rest_;
    Span known_; ///< what `entries_` tells about
    std::array<std::uint64_t, 512> entries_;
    bool good_;
};

/// Runs of a file of memory that hold something.
class FileData {
public:
    /// Bytes from the start of the part that is looked at.
    struct Run {
        std::size_t at;
        std::size_t bytes;
    };
    FileData(const File& file, std::uint64_t offset, std::size_t bytes) noexcept
        : descriptor_(file.descriptor()), offset_(offset), bytes_(bytes)
    {}

    [[nodiscard]] bool next(Run& run) noexcept;
    [[nodiscard]] bool good() const noexcept { return good_; }

private:
    int descriptor_;
    std::uint64_t offset_;
    std::size_t bytes_;
    std::size_t at_ = 0;
    bool good_ = true;
};

/// Copies memory into a file and back, all of it or false with errno.
[[nodiscard]] bool write_all(const File& file, Span memory, std::uint64_t offset) noexcept;
[[nodiscard]] bool read_all(const File& file, Span memory, std::uint64_t offset) noexcept;

} // namespace sidelight::host::memory
