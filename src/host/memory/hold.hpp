// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/shared_memory.hpp"
#include "host/memory/span.hpp"

namespace sidelight::host::memory {

/// Makes other threads, and system calls of theirs, wait where they touch certain pages, until it
/// ends; they then go on with whatever is mapped there. Built on userfaultfd. The holding thread
/// must not do what it makes others wait for.
class Hold {
public:
    /// Not set where the kernel has none, or not for this user: it must also hold accesses that
    /// system calls make, which takes CAP_SYS_PTRACE, vm.unprivileged_userfaultfd or
    /// /dev/userfaultfd. `shared_writes`: it must be able to do hold_writes.
    [[nodiscard]] static Hold open(bool shared_writes) noexcept;

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(file_); }

    /// From now on nobody gets a new page here: who touches one that is missing waits. To be
    /// called before the pages are moved away.
    [[nodiscard]] bool hold_missing(Span pages) const noexcept;
    /// From now on nobody writes to these pages of a file of memory; all may read them.
    [[nodiscard]] bool hold_writes(Span pages) const noexcept;

    /// All that wait go on.
    void end() noexcept;

private:
    File file_;
};

} // namespace sidelight::host::memory
