// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "host/memory/span.hpp"

/// What the kernel says about this process's memory, in /proc/self. Nothing here allocates: it is
/// also read where the heap may be the memory in question.
namespace sidelight::host::memory {

/// One mapping: a line of /proc/self/maps, with what smaps adds.
struct Area {
    Span span;
    bool readable = false;
    bool writable = false;
    bool executable = false;
    bool shared = false;
    std::uint64_t offset = 0;     ///< in the file
    std::uint64_t device = 0;     ///< of the file, as stat says it
    std::uint64_t inode = 0;      ///< of the file; 0: anonymous memory
    std::array<char, 256> name{}; ///< path or [kind], cut off; empty for most anonymous memory
    // From smaps only:
    std::array<char, 128> flags{}; ///< two letters each, with a blank behind: "rd wr mr "
    std::uint64_t huge_bytes = 0;  ///< now in transparent huge pages
    bool huge_eligible = false;    ///< the kernel may use huge pages for it
};

/// A function that is called for one area after the other, in the order of addresses, until it
/// answers false.
class AreaVisitor {
public:
    virtual bool visit(const Area& area) noexcept = 0;

protected:
    ~AreaVisitor() = default;
};

enum class Detail : std::uint8_t {
    mappings, ///< what maps says: cheap
    flags,    ///< what smaps says too: the kernel looks at every page up to the last area wanted
};

/// Visits the areas that have a part of `span`. False if the kernel does not tell.
bool visit_areas(Span span, Detail detail, AreaVisitor& visitor) noexcept;

/// The same on a text in the format of maps or smaps, read through `descriptor`.
bool visit_areas(int descriptor, Span span, AreaVisitor& visitor) noexcept;

/// Whether one of the words of `flags` is `flag`, two letters.
[[nodiscard]] bool has_flag(const Area& area, std::string_view flag) noexcept;

/// From /proc/self/status, and which devices are open.
struct ProcessState {
    int threads = 0;          ///< 0: the kernel does not tell
    std::uint64_t pinned = 0; ///< kilobytes that devices may access
    bool devices = false;     ///< such are open whose memory is not counted there
};
[[nodiscard]] ProcessState process_state() noexcept;

} // namespace sidelight::host::memory
