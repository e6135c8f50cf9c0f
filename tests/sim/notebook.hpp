// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/trace.hpp"

namespace sidelight::sim {

/// The trace of one rank, which is held against what a trace promises: each epoch is opened,
/// activated, granted by each of its peers once, or said not to be where it has no operation there,
/// closed and completed, in an order that may be; operations name epochs that are open,
/// notifications the operation before them.
class Notebook final : public trace::Recorder {
public:
    /// `now`: the rank's clock.
    explicit Notebook(std::function<std::uint64_t()> now) : now_(std::move(now)) {}

    void note(trace::Record record) noexcept override;

    /// What was wrong first; null: nothing.
    [[nodiscard]] const char* wrong() const noexcept { return wrong_; }
    /// All that was noted, with the time.
    [[nodiscard]] const std::vector<trace::Record>& records() const noexcept { return records_; }
    /// Epochs that are not complete.
    [[nodiscard]] std::size_t unfinished() const noexcept { return epochs_.size(); }

private:
    struct Epoch {
        std::uint64_t grants_missing = 0;
        bool grows = false;      ///< its peers are named by its operations
        std::set<int> granted{}; ///< peers; -1: all
        std::set<int> used{};    ///< peers of operations
        bool active = false;
        bool closed = false;

        [[nodiscard]] bool is_granted() const;
    };
    using Name = std::pair<std::uint32_t, std::uint32_t>; ///< window and epoch

    void open(const trace::Record& record);
    void follow(const trace::Record& record);
    [[nodiscard]] bool is_of_last_operation(const trace::Record& record) const;
    void expect(bool holds, const char* otherwise) noexcept;

    std::function<std::uint64_t()> now_;
    std::vector<trace::Record> records_;
    std::map<Name, Epoch> epochs_;
    std::uint32_t windows_ = 0;
    const char* wrong_ = nullptr;
};

} // namespace sidelight::sim
