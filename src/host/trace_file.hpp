// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/shared_memory.hpp"
#include "base/trace.hpp"
#include "base/trace_format.hpp"

namespace sidelight::host {

/// Whose trace it is.
struct TracedProcess {
    int rank = -1; ///< in the job; -1: it has none
    int ranks = 0;
};

/// The trace of this process, in a file that is mapped and grows by chunks, of which each thread
/// fills its own: what was noted is in the file even if the process is killed. A file that has
/// reached its limit, or for which the disk has no more room, takes nothing more; the log says so
/// once. Format: docs/reference/trace-format.md.
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
    void stop(const char* why) noexcept;

    File file_;
    trace::FileHeader* header_;
    std::uint64_t limit_;
    std::string maps_; ///< the file beside it
    std::mutex mutex_; ///< of what follows
    std::uint64_t end_;
    std::atomic<bool> full_{false};
};

} // namespace sidelight::host
