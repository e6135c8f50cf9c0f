// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace sidelight::fabric::sim {

/// Virtual time in nanoseconds.
using Time = std::uint64_t;

/// The last events of a run, kept unformatted so that keeping them costs next to nothing.
class Trace {
public:
    explicit Trace(std::size_t capacity = 4096) : ring_(capacity) {}

    /// `event` must live as long as the trace. Its two numbers mean what it says they mean.
    void record(Time time, int rank, const char* event, std::int64_t first = 0,
                std::int64_t second = 0) noexcept
    {
        ring_[recorded_ % ring_.size()] = {time, event, first, second, rank};
        ++recorded_;
    }

    /// One line per event, oldest first.
    void print(std::FILE* out) const;

    /// A number that two runs share if they recorded the same events at the same times.
    [[nodiscard]] std::uint64_t digest() const noexcept;

private:
    struct Entry {
        Time time = 0;
        const char* event = "";
        std::int64_t first = 0;
        std::int64_t second = 0;
        int rank = 0;
    };

    [[nodiscard]] std::size_t kept() const noexcept
    {
        return recorded_ < ring_.size() ? recorded_ : ring_.size();
    }
    /// The entry that is `index` after the oldest one kept.
    [[nodiscard]] const Entry& entry(std::size_t index) const noexcept
    {
        return ring_[(recorded_ - kept() + index) % ring_.size()];
    }

    std::vector<Entry> ring_;
    std::size_t recorded_ = 0;
};

} // namespace sidelight::fabric::sim
