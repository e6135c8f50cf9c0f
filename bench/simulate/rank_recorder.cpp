// SPDX-License-Identifier: BSD-3-Clause
#include "rank_recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <stdexcept>

#include "base/shared_memory.hpp"

namespace sidelight::simulate {

namespace {

constexpr std::size_t at_a_time = 512; ///< records

[[noreturn]] void give_up(const std::string& path, int error)
{
    throw std::runtime_error("no trace: " + path + ": " + std::strerror(error));
}

} // namespace

/// Simulated processes and their threads are numbered by their ranks, from 1 on, and machines by
/// their nodes: the same seed gives the same files.
RankRecorder::RankRecorder(const std::string& folder, const Ranks& ranks, int rank)
    : network_(ranks.network),
      path_(folder + "/" + trace::file_name(rank)),
      header_(trace::header_of(rank, ranks.count()))
{
    header_.process = rank + 1;
    std::snprintf(header_.host, sizeof header_.host, "node%d", ranks.node_of(rank));
    noted_.reserve(at_a_time);
    const File file(
        open((path_ + ".trace").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file || !trace::copy_maps((path_ + ".maps").c_str())) {
        give_up(path_, errno);
    }
}

void RankRecorder::note(trace::Record record) noexcept
{
    record.time = network_.now();
    noted_.push_back(record); // there is room
    if (noted_.size() == at_a_time) {
        write();
    }
}

void RankRecorder::finish()
{
    write();
    if (error_ != 0) {
        give_up(path_, error_);
    }
}

/// A tick is a nanosecond, by all three clocks.
void RankRecorder::write() noexcept
{
    const std::uint64_t now = network_.now();
    header_.end = {.ticks = now, .monotonic = now, .real = now};
    const File file(open((path_ + ".trace").c_str(), O_WRONLY | O_CLOEXEC));
    if (!file && error_ == 0) {
        error_ = errno;
    }
    put(file.descriptor(), &header_, sizeof header_, 0);
    for (std::span<const trace::Record> left = noted_; !left.empty();) {
        const std::size_t room = trace::most_records - written_ % trace::most_records;
        const std::size_t count = std::min(room, left.size());
        append(file.descriptor(), left.data(), count);
        left = left.subspan(count);
    }
    noted_.clear();
}

/// As many as there is room for in the last chunk, or, where that is full, in the next one.
void RankRecorder::append(int file, const trace::Record *records, std::size_t count) noexcept
{
    const std::size_t before = written_ % trace::most_records;
    const std::size_t chunk =
        trace::header_bytes + written_ / trace::most_records * trace::chunk_bytes;
    const trace::ChunkHeader head{.records = static_cast<std::uint32_t>(before + count),
                                  .thread = static_cast<std::uint32_t>(header_.process)};
    put(file, records, count * sizeof *records, chunk + sizeof head + before * sizeof *records);
    put(file, &head, sizeof head, chunk);
    written_ += count;
}

void RankRecorder::put(int file, const void *bytes, std::size_t count, std::size_t at) noexcept
{
    if (error_ == 0) {
        const ssize_t done = pwrite(file, bytes, count, static_cast<off_t>(at));
        if (done != static_cast<ssize_t>(count)) {
            error_ = done < 0 ? errno : ENOSPC;
        }
    }
}

Recording::Recording(const std::string& folder, const Ranks& ranks)
{
    if (folder.empty()) {
        return;
    }
    if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
        give_up(folder, errno);
    }
    for (int rank = 0; rank < ranks.count(); ++rank) {
        recorders_.push_back(std::make_unique<RankRecorder>(folder, ranks, rank));
    }
}

void Recording::finish()
{
    for (const auto& recorder : recorders_) {
        recorder->finish();
    }
}

} // namespace sidelight::simulate
