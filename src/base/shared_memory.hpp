// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace sidelight {

/// A file descriptor that is closed with its owner. It is none of the first three: a program that
/// has closed one of these may go on printing there.
class File {
public:
    File() = default;
    /// By another number, if it is one of them; not set where there is none.
    explicit File(int descriptor) noexcept;
    ~File();
    File(File&& other) noexcept : descriptor_(other.release()) {}
    File& operator=(File&& other) noexcept;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ >= 0; }
    int release() noexcept;

private:
    int descriptor_ = -1;
};

/// A file of memory without a name, and how other processes of the node find it: through its
/// owner's descriptor in /proc. It lives as long as a descriptor or a mapping of it does, so
/// nothing is left behind by processes that are killed.
struct MemoryFileAddress {
    std::int32_t owner = 0; ///< process id
    std::int32_t descriptor = -1;
    std::uint64_t inode = 0; ///< tells it from a later one with the same descriptor

    bool operator==(const MemoryFileAddress&) const = default;
};

/// Where a piece of memory lies for other processes of the node. Neither end need be at a page.
struct FileRange {
    MemoryFileAddress file;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;

    bool operator==(const FileRange&) const = default;
};

/// Makes an empty memory file. Nobody can make it shorter, which would end processes that have it
/// mapped, or run what is in it. Not set: errno says why.
[[nodiscard]] File create_memory_file() noexcept;
/// Makes it that long, unless it is longer. On failure errno says why: EFBIG where the user limits
/// the size of files (ulimit -f), for which the kernel alone would end the program.
[[nodiscard]] bool grow(const File& file, std::uint64_t bytes) noexcept;
/// Gives back what a file has there. Whoever has it mapped finds zeros.
void punch(const File& file, std::uint64_t offset, std::uint64_t bytes) noexcept;
/// Maps whole pages of the file over what is there; `how`: MAP_SHARED or MAP_PRIVATE, and more. A
/// plain system call: what a registration cache does that watches mmap might store into the pages.
[[nodiscard]] bool map_over(void* pages, std::size_t bytes, const File& file, std::uint64_t offset,
                            int how) noexcept;
/// Opens another process's. Not set where it is gone, or in another namespace of processes; what
/// has its descriptor now is not opened.
[[nodiscard]] File open_memory_file(const MemoryFileAddress& address) noexcept;
/// Whether its owner has it open there, and this process may see it.
[[nodiscard]] bool is_there(const MemoryFileAddress& address) noexcept;
[[nodiscard]] MemoryFileAddress address_of(const File& file) noexcept;

/// Pages mapped into this process, given back with their owner.
class Mapping {
public:
    Mapping() = default;
    ~Mapping();
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;

    /// Maps the first `bytes` of a file, which grows to that size, at a multiple of `alignment`, a
    /// power of two. Empty on failure, with errno.
    [[nodiscard]] static Mapping shared(const File& file, std::size_t bytes,
                                        std::size_t alignment = 1) noexcept;
    /// Maps that part of a file, which grows as far, as above. It begins at a page.
    [[nodiscard]] static Mapping part(const File& file, std::uint64_t offset,
                                      std::size_t bytes) noexcept;
    /// Maps where another process has said that bytes lie. Beyond the end of the file they must not
    /// be touched; no huge pages are set aside for it. Empty: the file is gone, nobody may map it
    /// for reading and writing, or it is of huge pages and ends before, since the kernel would make
    /// it longer. Locks that this process has on the file stay.
    [[nodiscard]] static Mapping of(const FileRange& where) noexcept;
    /// Zeroed memory of this process alone, aligned likewise.
    [[nodiscard]] static Mapping anonymous(std::size_t bytes, std::size_t alignment = 1) noexcept;

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    /// Of whole pages.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] explicit operator bool() const noexcept { return data_ != nullptr; }

private:
    Mapping(void* address, std::size_t bytes, std::size_t before = 0) noexcept;
    static Mapping map_range(int descriptor, const FileRange& where) noexcept;

    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t before_ = 0; ///< what the first page has before the data
};

[[nodiscard]] std::size_t page_size() noexcept;

} // namespace sidelight
