// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/trace_format.hpp"
#include "ranks.hpp"

namespace sidelight::simulate {

/// Takes down what one simulated rank does, by the clock of its network. What was noted goes to the
/// rank's file some hundred records at a time, and the file is open only then: a run may have
/// thousands of ranks.
class RankRecorder final : public trace::Recorder {
public:
    /// Makes the file, and that beside it. Throws std::runtime_error.
    RankRecorder(const std::string& folder, const Ranks& ranks, int rank);

    void note(trace::Record record) noexcept override;
    /// Writes what is left. Throws std::runtime_error where something could not be written.
    void finish();

private:
    void write() noexcept;
    void append(int file, const trace::Record *records, std::size_t count) noexcept;
    void put(int file, const void *bytes, std::size_t count, std::size_t at) noexcept;

    const fabric::sim::Network& network_;
    std::string path_;
    trace::FileHeader header_;
    std::vector<trace::Record> noted_;
    std::size_t written_ = 0; ///< records in the file
    int error_ = 0;           ///< why something could not be written; then nothing more is
};

/// The recorders of a run, or none. They must outlive the windows of its ranks.
class Recording {
public:
    /// Makes the folder, if it is not there; without a name nothing is traced. Throws
    /// std::runtime_error.
    Recording(const std::string& folder, const Ranks& ranks);

    /// Null: nothing is traced.
    [[nodiscard]] trace::Recorder *of(int rank) const noexcept
    {
        return recorders_.empty() ? nullptr : recorders_[static_cast<std::size_t>(rank)].get();
    }
    /// After the windows have ended. Throws std::runtime_error where something is missing.
    void finish();

private:
    std::vector<std::unique_ptr<RankRecorder>> recorders_;
};

} // namespace sidelight::simulate
