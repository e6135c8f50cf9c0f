// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/trace.hpp"

/// How the files of a trace are laid out, for all who write some: docs/reference/trace-format.md.
namespace sidelight::trace {

inline constexpr std::size_t header_bytes = 4096;
inline constexpr std::size_t chunk_bytes = std::size_t{256} << 10;

/// One moment by three clocks.
struct Moment {
    std::uint64_t ticks = 0;
    std::uint64_t monotonic = 0;
    std::uint64_t real = 0;
};

/// At the beginning of a file. Up to `header_bytes` nothing follows.
struct FileHeader {
    char magic[8];
    std::uint32_t version;
    std::int32_t rank;
    std::int32_t ranks;
    std::int32_t process;
    std::uint32_t full;
    std::uint32_t unused;
    Moment begin;
    Moment end;
    char host[64];
    char program[256];
};
static_assert(sizeof(FileHeader) == 400 && sizeof(FileHeader) <= header_bytes);

/// Before the records of a chunk, which are of one thread.
struct ChunkHeader {
    std::uint32_t records = 0;
    std::uint32_t thread = 0;
    std::uint32_t own = 0;
    std::uint32_t unused[5] = {};
};
static_assert(sizeof(ChunkHeader) == 32);

inline constexpr std::size_t most_records = (chunk_bytes - sizeof(ChunkHeader)) / sizeof(Record);

struct Chunk {
    ChunkHeader head;
    Record record[most_records];
};
static_assert(sizeof(Chunk) == chunk_bytes);

/// Of a process with that rank in the job, -1: without one. Clocks, process and host are for its
/// writer to fill in; the program is this one.
[[nodiscard]] FileHeader header_of(int rank, int ranks) noexcept;
/// The name of its file, without what is behind the dot; without a rank those of its node and
/// process.
[[nodiscard]] std::string file_name(int rank);
/// Writes the file beside it: where code lies in this process. False: errno says why.
[[nodiscard]] bool copy_maps(const char* path) noexcept;

} // namespace sidelight::trace
