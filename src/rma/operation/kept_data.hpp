// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>

#include "rma/operation.hpp"

namespace sidelight::rma {

/// Who finishes what is recorded while the program makes no call.
enum class Finisher : std::uint8_t {
    nobody, ///< its next call does
    called, ///< a thread that is called for the events that windows ask for
    thread, ///< a thread that any ring and any message wakes
};

/// The room in which a process keeps what closing calls that have returned early have left to do,
/// on all its windows. Guarded by the engine.
struct KeepingRoom {
    Finisher finisher = Finisher::nobody;
    /// Nothing returns early: a lock waits for what is kept, and that of another thread of the
    /// program may be what the late target waits for.
    bool program_has_threads = false;
    std::size_t used = 0; ///< bytes, what is needed to keep them included
    /// Epochs of all windows that wait for something, those that have returned early included.
    std::size_t waiting = 0;
    /// Others may need calls of this process for messages of theirs. Any thread.
    std::atomic<bool> serves_messages{false};

    /// Whether anybody finishes it in a window; `calls`: what happens there calls this process.
    [[nodiscard]] bool others_finish(bool calls) const noexcept
    {
        return finisher == Finisher::thread || (finisher == Finisher::called && calls);
    }
};

/// The data of operations that lie one behind the other in one block, apart from the program's
/// memory. Several operations may have the same data.
struct KeptData;

/// What one operation takes beside its data, at most.
inline constexpr std::size_t kept_overhead = 320;

/// Whether two buffers are the same.
[[nodiscard]] bool same_buffer(const datatype::Buffer& one, const datatype::Buffer& other) noexcept;

/// How much room the data of an operation take.
[[nodiscard]] std::size_t kept_bytes(const Operation& operation) noexcept;

/// Copies what a recorded operation reads at the origin, which from then on needs neither the
/// program's buffer nor its datatype on that side. `like`: one that was kept before and has the
/// same buffer, or null. False: no memory, and nothing has changed.
[[nodiscard]] bool keep_data(KeepingRoom& room, Op& op, const Op* like) noexcept;

/// Copies what an operation that waits reads into the operation itself, if it is little. A host
/// would have sent so little by now, and there are programs that use the buffer again too early.
void keep_little(Op& op) noexcept;

/// Whether it reads nothing of the program's.
[[nodiscard]] inline bool is_kept(const Op& op) noexcept
{
    return op.kept != nullptr || op.operation.origin.address == op.little.data();
}

/// The operation reads nothing any more. Does nothing to one that has nothing kept.
void drop_kept(Op& op) noexcept;

} // namespace sidelight::rma
