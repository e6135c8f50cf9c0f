// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/memory/span.hpp"

/// Huge pages of files of memory by MADV_COLLAPSE (Linux 6.1), which needs no permission in
/// /sys/kernel/mm/transparent_hugepage/shmem_enabled. Only plain system calls.
namespace sidelight::host::memory {

/// Bytes of a huge page. On kernels with others nothing is collapsed.
constexpr std::size_t collapsed_page = std::size_t{2} << 20;

/// Huge pages under a view of a file, made before they are filled. The view lies in the file at a
/// multiple of that size from where it lies in memory.
class Collapse {
public:
    explicit Collapse(Span view) noexcept;

    /// The huge pages that `run`, a part of the view, lies in; what is too small for one at either
    /// end of the view is left out. Runs come in ascending order. False with errno: none were made.
    [[nodiscard]] bool make(Span run) noexcept;

private:
    Span whole_; ///< of the view, in whole huge pages
    std::uintptr_t made_until_;
};

/// Whether that works here: tried on a page of our own, until it has worked once.
[[nodiscard]] bool can_collapse() noexcept;

} // namespace sidelight::host::memory
