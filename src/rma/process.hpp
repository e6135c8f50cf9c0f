// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/pool.hpp"
#include "fabric/fabric.hpp"
#include "fabric/peer_memory.hpp"
#include "fabric/private_memory.hpp"
#include "rma/window.hpp"

namespace sidelight::rma {

/// One rank's engine: its windows and pools. There is one in a process of an MPI job and any number
/// in a simulation. No globals, no clock, no MPI: it talks to the fabric that it is given.
///
/// Threads: one at a time (the caller holds "the engine"); only the direct path (direct_path.hpp)
/// may run beside it. Nothing here blocks.
class Process final : public fabric::Receiver {
public:
    /// `memory` may be null: then nothing that is attached to a dynamic window is mapped, and all
    /// operations on it travel as messages.
    explicit Process(fabric::Fabric& fabric, fabric::PeerMemory* memory = nullptr) noexcept
        : fabric_(fabric), memory_(memory != nullptr ? *memory : private_memory_)
    {}

    /// Throws std::bad_alloc. The window lives until destroy_window.
    Window& create_window(const WindowShape& shape);
    /// After Window::close has completed.
    void destroy_window(Window& window) noexcept;

    /// One sweep over all that can be done without blocking, in the order of
    /// docs/design/progress.md. Answers whether anything moved.
    bool progress() noexcept;

    /// Whether a sweep could find anything to do: the idle test of a progress hook. Any thread,
    /// also without the engine; then what another thread does just now may be missed.
    [[nodiscard]] bool busy() const noexcept { return messages() || waits(); }
    /// Whether a window waits for anything, as seen by any thread.
    [[nodiscard]] bool waits() const noexcept { return any_busy_.load(std::memory_order_relaxed); }

    /// Where to sleep for the only thing that can let the engine go on: a barrier. Null: there are
    /// other things, and those ring at the process's own doorbell.
    [[nodiscard]] Doorbell* barrier_bell() noexcept;

    /// Set by the owner while other threads may be inside the library: completion then never
    /// relies on what this thread alone has issued. Windows that exist hear of it, so
    /// none of their calls may be going on then.
    void set_threaded(bool threaded) noexcept;
    /// Others' heavy barriers reach this process (base/heavy_barrier.hpp).
    void set_allows_rows(bool allows) noexcept { allows_rows_ = allows; }
    [[nodiscard]] bool allows_rows() const noexcept { return allows_rows_; }
    [[nodiscard]] bool threaded() const noexcept { return threaded_; }
    /// Set by the owner if the fabric carries messages (some member is not mapped). Read by any
    /// thread, also without the engine.
    void set_messages(bool messages) noexcept
    {
        messages_.store(messages, std::memory_order_relaxed);
    }
    [[nodiscard]] bool messages() const noexcept
    {
        return messages_.load(std::memory_order_relaxed);
    }

    /// Lets messages leave that a call has sent and the fabric holds back. Whoever has called the
    /// engine calls this before it lets go of it. `progress` does so by itself.
    void push() noexcept
    {
        if (unpushed_) [[unlikely]] {
            push_all();
        }
    }

    /// Tells all peers that were sent anything, or have sent something, that this process leaves,
    /// and asks them to answer, so that the fabric can be closed: what was sent has then arrived,
    /// and nobody takes the end of a connection for a loss. No window is left, and nothing is sent
    /// afterwards but answers.
    void say_farewell() noexcept;
    /// Whether all of them have answered, or are lost.
    [[nodiscard]] bool has_parted() const noexcept { return awaited_.empty(); }

    void receive(int from, std::span<const std::byte> message) noexcept override;
    std::byte* place(int from, std::span<const std::byte> header,
                     std::size_t bytes) noexcept override;
    void placed(int from, std::span<const std::byte> header, std::size_t bytes) noexcept override;
    void lost(int peer) noexcept override;

private:
    void tell_left(int to, const MessageHeader& header) noexcept;
    [[nodiscard]] Window* window_of(std::span<const std::byte> message,
                                    MessageHeader& header) noexcept;
    friend class Window;
    friend class Barrier;
    friend struct LightEpochs;

    void note_busy() noexcept
    {
        any_busy_.store(!busy_windows_.empty(), std::memory_order_relaxed);
    }

    /// Something is to leave with the next `push`; unless that is held back, at once.
    void note_sent() noexcept
    {
        unpushed_ = true;
        held_ = true;
    }
    void push_all() noexcept
    {
        unpushed_ = false;
        held_ = false;
        fabric_.push();
    }
    void note_met(int peer) noexcept;
    void note_departed(int peer) noexcept;
    Status send(int peer, const MessageHeader& header,
                std::span<const std::byte> payload = {}) noexcept;
    Status send_to_process(int peer, MessageKind kind) noexcept;
    void receive_from_process(int from, const MessageHeader& header) noexcept;

    fabric::Fabric& fabric_;
    fabric::PrivateMemory private_memory_;
    fabric::PeerMemory& memory_;
    bool threaded_ = false;
    bool allows_rows_ = false;
    std::atomic<bool> messages_{false};
    bool unpushed_ = false;    ///< something was sent that must not be held back
    bool held_ = false;        ///< something was sent since the last push
    Window* latest_ = nullptr; ///< the one that a message named last
    /// Windows with epochs that need progress, or with remote origins that wait for a lock.
    List<Window, &Window::in_busy_> busy_windows_;
    std::atomic<bool> any_busy_{false}; ///< whether that list has any, for those without the engine
    std::vector<std::unique_ptr<Window>> windows_;
    std::unordered_map<std::uint64_t, Window*> by_id_;
    std::unordered_set<int> lost_peers_;
    std::unordered_map<std::uint64_t, int> left_; ///< windows with lost members: the rank in them
    Pool<Epoch> epochs_;
    Pool<Op> ops_;
    Pool<Waiting> waiting_;
    Pool<LongSend> long_sends_;
    Pool<RemoteAccess> remote_accesses_;
    Flights flights_;
    std::unordered_set<int> met_;      ///< peers sent to or heard from, since the last farewell
    std::unordered_set<int> awaited_;  ///< of those, who has not answered the farewell
    std::unordered_set<int> departed_; ///< peers that have said farewell
};

} // namespace sidelight::rma
