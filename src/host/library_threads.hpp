// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <sys/types.h>

/// Which threads of this process the program did not start: those of the host MPI, and of UCX and
/// this library. Nobody tells, so what starts them is watched.
namespace sidelight::host {

/// Whoever starts while it lives is not the program's, if no other thread of the program's is there
/// that could start them. Any thread may have one.
class LibraryThreads {
public:
    LibraryThreads() noexcept;
    ~LibraryThreads();
    LibraryThreads(const LibraryThreads&) = delete;
    LibraryThreads& operator=(const LibraryThreads&) = delete;

private:
    std::vector<pid_t> before_;
};

/// Whether the program has no thread but the calling one. False where nobody knows. Throws
/// std::bad_alloc.
[[nodiscard]] bool program_is_alone();

} // namespace sidelight::host
