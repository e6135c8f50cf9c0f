// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "rma/kinds.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

/// How many operations of a PeerEpoch the threads have that number theirs. Those of no number are
/// what is left of the PeerEpoch's own counts. Guarded by the engine.
class ThreadCounts {
public:
    void issued(ThreadNumber thread) noexcept
    {
        ++of_[thread].outstanding;
        ++of_[thread].local;
        most_ = thread > most_ ? thread : most_;
    }
    void local(ThreadNumber thread) noexcept { --of_[thread].local; }
    void complete(ThreadNumber thread) noexcept { --of_[thread].outstanding; }

    /// Those that a flush of `flushing` has no need to wait for.
    [[nodiscard]] std::uint32_t left_out(ThreadNumber flushing, FlushScope scope) const noexcept
    {
        std::uint32_t count = 0;
        for (std::size_t thread = 1; thread <= most_; ++thread) {
            if (!rules::flush_includes(flushing, static_cast<ThreadNumber>(thread))) {
                count += scope == FlushScope::local ? of_[thread].local : of_[thread].outstanding;
            }
        }
        return count;
    }

private:
    struct Count {
        std::uint32_t outstanding = 0;
        std::uint32_t local = 0;
    };
    std::array<Count, most_thread_numbers + 1> of_{};
    ThreadNumber most_ = 0; ///< the highest that has issued any
};

} // namespace sidelight::rma
