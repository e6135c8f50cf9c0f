// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/private_memory.hpp"
#include "rma/engine/active_job.hpp"
#include "rma/engine/shared_parts.hpp"

namespace sidelight::rma {

/// One rank's engine: its windows and pools. There is one in a process of an MPI job and any number
/// in a simulation. No globals, no clock, no MPI: it talks to the fabric that it is given.
///
/// Threads: one at a time (the caller holds "the engine"); only the direct path
/// (operation/mapped.hpp) may run beside it. Nothing here blocks.
class Process final : public fabric::Receiver {
public:
    /// `memory` may be null: then nothing that is attached to a dynamic window is mapped, and all
    /// operations on it travel as messages.
    explicit Process(fabric::Fabric& fabric, fabric::PeerMemory* memory = nullptr) noexcept
        : shared_{.memory = memory != nullptr ? *memory : private_memory_,
                  .carrier = Carrier(fabric)}
    {}

    /// Throws std::bad_alloc. The window lives until destroy_window.
    Window& create_window(const WindowShape& shape);
    /// After Window::close has completed. Members that still work in a broken one are told.
    void destroy_window(Window& window) noexcept;
    /// Frees memory that windows which have ended needed. Answers how many bytes.
    std::size_t shrink() noexcept { return shared_.shrink(); }

    /// One sweep over all that can be done without blocking, in the order of
    /// docs/design/progress.md. Answers whether anything moved.
    bool progress() noexcept { return progress(Held::leaves); }
    /// Of what is held back: more may be about to be sent where nobody waits.
    enum class Held : bool { leaves, stays };
    bool progress(Held held) noexcept;

    /// Whether a sweep could find anything to do: the idle test of a progress hook. Any thread,
    /// also without the engine; then what another thread does just now may be missed.
    [[nodiscard]] bool busy() const noexcept { return messages() || waits(); }
    /// Whether a window waits for anything, as seen by any thread.
    [[nodiscard]] bool waits() const noexcept { return shared_.busy.any(); }

    /// Whether a sweep may spare what is issued now from being recorded. Holds the engine.
    [[nodiscard]] bool wants_answers() const noexcept
    {
        return waits() || shared_.carrier.credit_is_scarce();
    }

    /// What there is recorded work for: to be called for while the program computes. Not for fast
    /// paths.
    [[nodiscard]] Wanted wanted() noexcept;

    /// Where to sleep for the only thing that can let the engine go on: a barrier. Null: there are
    /// other things, and those ring at the process's own doorbell.
    [[nodiscard]] Doorbell* barrier_bell() noexcept;

    /// Set by the owner while another thread may sweep the engine, and while several threads of the
    /// program may call: completion then never relies on what one thread alone has issued. Windows
    /// that exist hear of it, so none of their calls may be going on then.
    void expect_threads(bool sweeps, bool many) noexcept;
    [[nodiscard]] const auto& windows() const noexcept { return windows_; }
    /// Who finishes what is recorded while the program makes no call: nobody, unless it is said.
    void set_finisher(Finisher finisher, bool program_has_threads) noexcept
    {
        shared_.operations.room.finisher = finisher;
        shared_.operations.room.program_has_threads = program_has_threads;
    }
    /// What has returned early and is not complete.
    [[nodiscard]] const EarlyEpochs& early() const noexcept { return shared_.early; }
    /// Others' heavy barriers reach this process (base/heavy_barrier.hpp).
    void set_allows_rows(bool allows) noexcept { shared_.allows_rows = allows; }
    /// From now on; windows that are there already are not traced. It must outlive the windows.
    void set_recorder(trace::Recorder* recorder) noexcept
    {
        shared_.latest_trace.recorder = recorder;
    }
    /// Set by the owner if the fabric carries messages (some member is not mapped). Read by any
    /// thread, also without the engine.
    void set_messages(bool messages) noexcept
    {
        shared_.operations.room.serves_messages.store(messages, std::memory_order_relaxed);
    }
    [[nodiscard]] bool messages() const noexcept
    {
        return shared_.operations.room.serves_messages.load(std::memory_order_relaxed);
    }

    /// Lets messages leave that a call has sent and the fabric holds back. Whoever has called the
    /// engine calls this before it lets go of it. `progress` does so by itself.
    void push() noexcept { shared_.carrier.push(); }
    /// What was sent under this hold of the engine may leave with what is sent next, or by
    /// `progress`.
    void hold_back() noexcept { shared_.carrier.set_unpushed(false); }
    /// Whether there are any.
    [[nodiscard]] bool must_push() const noexcept { return shared_.carrier.unpushed(); }

    /// Of the windows to come.
    void set_credit(const CreditLimits& limits) noexcept { shared_.credit = limits; }

    // Active messages (P5): whoever holds the engine takes one, runs it without, and ends it with
    // the engine again. Any number of threads may.
    /// What the handlers of windows to come may use.
    void set_active(const ActiveLimits& limits) noexcept { shared_.active = limits; }
    /// Whether any may be there. Any thread, also without the engine.
    [[nodiscard]] bool has_active() const noexcept
    {
        return shared_.with_active.load(std::memory_order_relaxed) != 0;
    }
    /// False: none may run now.
    [[nodiscard]] bool take_active(ActiveJob& job) noexcept;
    static void run_active(const ActiveJob& job, ActiveCaller& caller) noexcept;
    /// Answers whether its origin alone was told something.
    static bool finish_active(const ActiveJob& job) noexcept;
    /// In its place by a thread that cannot have the engine: whoever has it next, to sweep or to
    /// take one, finishes it.
    void leave_active(const ActiveJob& job) noexcept;
    /// Answers whether there were such. Before a message of one's own: their origins hear of them.
    bool finish_left() noexcept;

    /// Takes leave of all peers, so that the fabric can be closed. No window is left, and nothing
    /// is sent afterwards but answers.
    void say_farewell() noexcept { shared_.farewells.say(); }
    /// Whether all of them have answered, or are lost.
    [[nodiscard]] bool has_parted() const noexcept { return shared_.farewells.answered(); }

    void receive(int from, std::span<const std::byte> message) noexcept override;
    std::byte* place(int from, std::span<const std::byte> header,
                     std::size_t bytes) noexcept override;
    void placed(int from, std::span<const std::byte> header, std::size_t bytes) noexcept override;
    void lost(int peer) noexcept override;

private:
    bool sweep_windows() noexcept;
    [[nodiscard]] Window* window_of(std::span<const std::byte> bytes, Message& message) noexcept;
    void note_left(const Window& window) noexcept;
    [[nodiscard]] int left_as(std::uint64_t window) const noexcept;
    void tell_left(int to, const MessageHeader& asked) noexcept;

    fabric::PrivateMemory private_memory_;
    SharedParts shared_;
    bool sweeps_ = false; ///< another thread may sweep
    bool many_threads_ = false;
    unsigned active_taken_ = 0; ///< active messages and pieces
    Window* latest_ = nullptr;  ///< the one that a message named last
    std::vector<std::unique_ptr<Window>> windows_;
    std::unordered_map<std::uint64_t, Window*> by_id_;
    std::unordered_map<std::uint64_t, int> left_; ///< windows with lost members: the rank in them
};

} // namespace sidelight::rma
