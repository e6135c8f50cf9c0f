// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "base/shared_memory.hpp"

namespace sidelight {

/// A file, whatever its name.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;

    bool operator==(const FileIdentity&) const = default;
};
/// None where it is not open.
[[nodiscard]] FileIdentity identity_of(const File& file) noexcept;

/// The same file by a high number, which programs do not come to: they get the lowest that is free.
/// For timers and their like, which all have one identity, so that another one would be taken for
/// it. By the old number where there is no high one.
[[nodiscard]] File out_of_the_way(File file) noexcept;

/// Until nobody has the answer open or mapped any more, `has_holder` is true for what lies before
/// `end`. Nothing where it cannot be had.
[[nodiscard]] File hold(const File& file, std::uint64_t end) noexcept;
[[nodiscard]] bool has_holder(const File& file, std::uint64_t offset, std::size_t bytes) noexcept;

/// A file that stays open while the program runs. The program may close its descriptor, and open
/// another file in its place: that one is never used, and never closed.
class HeldFile {
public:
    HeldFile() = default;
    explicit HeldFile(File file) noexcept : file_(std::move(file)), identity_(identity_of(file_)) {}
    ~HeldFile() { file(); }
    HeldFile(HeldFile&&) noexcept = default;
    HeldFile& operator=(HeldFile&& other) noexcept;

    /// Not set once the program has closed it.
    const File& file() noexcept;
    /// Whether it is open; any thread.
    [[nodiscard]] bool is_open() const noexcept { return file_ && identity_of(file_) == identity_; }
    /// What it was opened by; another file's, where it is not open any more. -1: it never was.
    [[nodiscard]] int descriptor() const noexcept { return file_.descriptor(); }
    /// Of the file that it was made of, also afterwards.
    [[nodiscard]] const FileIdentity& identity() const noexcept { return identity_; }

private:
    File file_;
    FileIdentity identity_;
};

} // namespace sidelight
