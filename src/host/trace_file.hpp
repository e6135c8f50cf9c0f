// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/held_file.hpp"
#include "base/trace.hpp"
#include "base/trace_format.hpp"

namespace sidelight::host {

/// Whose trace it is.
struct TracedProcess {
    int rank = -1; ///< in the job; -1: it has none
    int ranks = 0;
};

/// The trace of this process, in a file that grows by chunks. Each thread fills one of its own,
/// which is mapped, and when it is full a copy of it goes to the end of the file: what was noted is
/// there even if the process is killed, and pages of the file are not touched for the first time
/// again and again, which takes longer than a note. A thread that begins when another one has ended
/// goes on in its chunk. A file that has reached its limit, for which the disk has no more room, or
/// which the program has closed, takes nothing more; the log says so once. Format:
/// docs/reference/trace-format.md.
class TraceFile final : public trace::Recorder {
public:
    /// Makes the folder, if it is not there, and the file in it; null, and a line in the log, where
    /// that cannot be.
    [[nodiscard]] static std::unique_ptr<TraceFile>
    create(const std::string& folder, std::uint64_t limit, TracedProcess process) noexcept;
    TraceFile(File file, trace::FileHeader* header, std::uint64_t limit, std::string maps) noexcept;
    ~TraceFile();
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    void note(trace::Record record) noexcept override;
    /// Takes down what the clocks say now, and where code lies: at the end, and in between for who
    /// reads the file before.
    void settle() noexcept;

private:
    [[nodiscard]] trace::Chunk* next_chunk(trace::Chunk* full) noexcept;
    [[nodiscard]] bool append(trace::Chunk& full) noexcept;
    [[nodiscard]] std::uint64_t reserve() noexcept;
    void look_at_clocks() noexcept;
    void stop(const char* why) noexcept;

    trace::FileHeader* header_;
    std::uint64_t limit_;
    std::string maps_;     ///< the file beside it
    std::uint64_t number_; ///< of all files of this process
    std::mutex mutex_;     ///< of what follows
    HeldFile file_;
    std::uint64_t end_;
    std::uint32_t threads_ = 0; ///< that have a chunk; one may have been several, one after another
    std::atomic<bool> full_{false};
    std::atomic<std::uint64_t> looked_at_{0}; ///< in ticks; written under the lock
};

} // namespace sidelight::host
