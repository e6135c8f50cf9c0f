// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <vector>

#include "base/shared_memory.hpp"
#include "host/memory/foreign_files.hpp"
#include "host/memory/present_pages.hpp"
#include "host/memory/shareable.hpp"

namespace sidelight::host::memory {

/// All ranges of this process that windows have, but for memory that was shared from its birth. A
/// child of fork gets its own pages where its parent has replaced ones; vfork, posix_spawn, system
/// and popen need nothing for that, and clone called directly is not covered.
class UserMemory {
public:
    static UserMemory& of_process() noexcept;

    /// Throws std::bad_alloc, with nothing changed.
    SharedRange share(Span range, SharePolicy policy);
    void release(SharedRange& range) noexcept;

private:
    /// Pages that were replaced: those of a file of their own, from its beginning on.
    struct Block {
        Span pages;
        HeldFile file;
        /// None: it stays for ranges that have a part of it as it is, or could not be given back.
        std::size_t users = 0;
        bool stays_shared = false; ///< it could not
    };
    using Blocks = std::list<Block>;

    [[gnu::constructor]] static void handle_forks() noexcept;
    [[nodiscard]] Blocks::iterator block_around(Span range) noexcept;
    [[nodiscard]] bool has_to_stay(Span pages) const noexcept;
    [[nodiscard]] bool in_use(Span pages) const noexcept;
    void give_back_idle() noexcept;
    Refusal replace(Span range);
    SharedRange find_shared(Span range);
    static SharedRange claim(Block& block, Span range) noexcept;
    static std::vector<Area> still_there(const Block& block, Span part);
    [[nodiscard]] static bool give_back(Block& block) noexcept;
    void after_fork_in_child() noexcept;

    std::mutex mutex_; ///< guards all that follows; held across fork
    Blocks blocks_;
    std::multimap<std::uintptr_t, std::uintptr_t> kept_; ///< as they are: from first up to last
    ForeignFiles foreign_;
    PageMap page_map_;
};

} // namespace sidelight::host::memory
