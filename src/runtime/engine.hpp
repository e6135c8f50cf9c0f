// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "base/trace.hpp"
#include "fabric/joined/joined_fabric.hpp"
#include "fabric/mapped/mapped_peer_memory.hpp"
#include "host/node/recall.hpp"
#include "rma/engine/process.hpp"
#include "runtime/engine_lock.hpp"

namespace sidelight::runtime {

/// The engine of this process, what carries its messages, and who may use it.
class Engine {
public:
    /// Opens no network yet. Throws std::bad_alloc and std::system_error.
    Engine();

    [[nodiscard]] rma::Process& process() noexcept { return process_; }
    [[nodiscard]] fabric::JoinedFabric& fabric() noexcept { return fabric_; }
    [[nodiscard]] EngineLock& lock() noexcept { return lock_; }

    /// Several threads of the program may call at once. Before the first window.
    void expect_program_threads() noexcept;
    /// From now on they may. The one that could call before may be inside, where the kernel has
    /// membarrier. By any other thread, or that one.
    void expect_more_program_threads() noexcept;
    /// A helper will come. By a thread of the program, before the helper exists; no other may be in
    /// a call of ours, unless several are expected anyway.
    void expect_helper() noexcept;

    /// From now on, or no longer, whoever leaves the engine says which events an interrupt thread
    /// is to be called for. Without the engine, by a thread that alone decides about that.
    void set_interrupts(bool wanted) noexcept;
    /// Ranks outnumber cores: calls are not noted. Any thread.
    void expect_crowd() noexcept
    {
        crowded_.store(true, std::memory_order_relaxed);
        notes_calls_.store(false, std::memory_order_relaxed);
    }
    [[nodiscard]] Interest& interest() noexcept { return fabric_.bell().interest(); }
    /// Around each use of the engine, while it is held. A thread that attends says nothing in
    /// between: nobody would be called for it.
    [[gnu::always_inline]] void begin_use() noexcept
    {
        if (asks()) [[unlikely]] {
            interest().enter();
        }
    }
    /// A use that is about to look at everything answers whoever has called.
    [[gnu::always_inline]] void answer_call() noexcept
    {
        if (asks()) [[unlikely]] {
            interest().answer_call();
        }
    }
    [[gnu::always_inline]] void end_use() noexcept
    {
        process_.push();
        if (asks()) [[unlikely]] {
            say_what_is_wanted();
        }
    }
    /// How the program's calls call the interrupt thread back.
    [[nodiscard]] host::node::Recall& recall() noexcept { return recall_; }
    /// Whether they are noted for it: there is one, one thread of the program, and a core for it,
    /// as else what the clock says is no measure of what it does.
    [[nodiscard]] bool notes_calls() const noexcept
    {
        return notes_calls_.load(std::memory_order_relaxed);
    }
    /// A thread of the program looks after things for a while, without holding the engine all the
    /// time. Answers whether it has to say when it ends.
    [[nodiscard, gnu::always_inline]] bool begin_attendance() noexcept
    {
        if (!asks()) [[likely]] {
            return false;
        }
        interest().enter();
        attends_ = true;
        return true;
    }
    /// At its end what is asked for is said, and who has called meanwhile is answered.
    void end_attendance() noexcept;

    /// A helper, about to sleep: whether handlers are left that had to stand back behind others',
    /// which nobody may tell it of. If not, the next one that is left wakes it.
    [[nodiscard]] bool expect_handlers() noexcept;
    /// A thread of the program that does not come again may leave handlers; without the engine.
    void leave_handlers() noexcept
    {
        if (process_.has_active() && !is_helper_) [[unlikely]] {
            tell_of_handlers();
        }
    }

    /// Whether several threads of the program may be inside at once; false before there is an
    /// engine.
    [[nodiscard]] static bool program_has_threads() noexcept { return program_has_threads_; }
    /// Whether any other thread may be inside, a helper too.
    [[nodiscard]] static bool threaded() noexcept { return threaded_; }

    /// This thread is a helper from now on: it takes the engine by a HelperToken, and calls nothing
    /// of the host.
    static void become_helper() noexcept { trace::own_thread = is_helper_ = true; }
    [[nodiscard]] static bool is_helper() noexcept { return is_helper_; }

private:
    /// Whether this thread says what is asked for when it leaves the engine.
    [[nodiscard, gnu::always_inline]] bool asks() const noexcept
    {
        return interrupts_.load(std::memory_order_relaxed) && !attends_;
    }
    void tell_process() noexcept;
    void say_what_is_wanted() noexcept;
    void tell_of_handlers() noexcept;

    static inline bool program_has_threads_ = false;
    static inline bool threaded_ = false;
    static inline thread_local bool is_helper_ = false;
    static inline thread_local bool attends_ = false; ///< this thread

    fabric::JoinedFabric fabric_;
    fabric::MappedPeerMemory peer_memory_;
    rma::Process process_{fabric_, &peer_memory_};
    EngineLock lock_;
    /// Changed under the engine and, for those who attend, with nobody inside.
    std::atomic<bool> interrupts_{false};
    std::atomic<bool> notes_calls_{false};
    std::atomic<bool> crowded_{false};
    /// A helper sleeps, or is about to, and has seen no handlers. Each side stores its own before
    /// it reads the other's: this, and the number of handlers.
    std::atomic<bool> handlers_are_told_{false};
    host::node::Recall recall_;
};

/// Held by a thread of the program that uses the engine, and so by whoever may send: at its end
/// what was sent leaves, unless it may be held back.
class EngineToken {
public:
    [[gnu::always_inline]] explicit EngineToken(Engine& engine) noexcept : engine_(engine)
    {
        engine_.lock().acquire();
        engine_.begin_use();
    }
    [[gnu::always_inline]] ~EngineToken()
    {
        engine_.end_use();
        engine_.lock().release();
    }
    EngineToken(const EngineToken&) = delete;
    EngineToken& operator=(const EngineToken&) = delete;

    /// It is never refused.
    explicit operator bool() const noexcept { return true; }

private:
    Engine& engine_;
};

/// The same for a thread that may be refused.
template <auto acquire, auto release>
class RefusableToken {
public:
    explicit RefusableToken(Engine& engine) noexcept
        : engine_(engine), held_((engine.lock().*acquire)())
    {
        if (held_) {
            engine_.begin_use();
        }
    }
    ~RefusableToken()
    {
        if (held_) {
            engine_.end_use();
            (engine_.lock().*release)();
        }
    }
    RefusableToken(const RefusableToken&) = delete;
    RefusableToken& operator=(const RefusableToken&) = delete;

    explicit operator bool() const noexcept { return held_; }

private:
    Engine& engine_;
    bool held_;
};

/// For a helper.
using HelperToken = RefusableToken<&EngineLock::acquire_as_helper, &EngineLock::release_as_helper>;
/// For a thread in the host's loop, which may be entered by a call of ours that holds the engine.
using HostLoopToken = RefusableToken<&EngineLock::try_acquire, &EngineLock::release>;

} // namespace sidelight::runtime
