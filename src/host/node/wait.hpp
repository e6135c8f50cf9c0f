// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "base/arming.hpp"
#include "base/bell_pipe.hpp"
#include "base/clock.hpp"
#include "base/doorbell.hpp"
#include "host/node/network_gate.hpp"
#include "host/node/yield_budget.hpp"

namespace sidelight::host::node {

/// Where a process hears of messages, besides its doorbell.
struct Network {
    int descriptor = -1; ///< can be read when something may have arrived
    /// Before each sleep, by the thread that goes to sleep, which does not hold the engine. Never
    /// again once it has refused.
    Arming (*arm)(void* context) noexcept = nullptr;
    void* context = nullptr;
};

/// What has ended a sleep of the interrupt thread.
enum class Roused : std::uint8_t {
    not_asleep,
    by_call,
    by_message,
    by_other, ///< a summons, or its limit
};

/// How a blocking call waits: it polls, at first without a pause; then it gives its core away and
/// sleeps at its doorbell. Any number of threads may wait at once. See docs/design/waiting.md.
class Waiter {
public:
    /// The doorbell must outlive it.
    explicit Waiter(Doorbell& bell) noexcept;

    /// Sleepers hear of this network as well. Once, by any thread, also while others sleep.
    void listen_to(const Network& network) noexcept;
    /// Before the network goes. Returns when no sleeper uses it; does nothing if there is none.
    void stop_listening() noexcept;

    /// Whether they do.
    [[nodiscard]] bool listens() const noexcept { return listens_.load(std::memory_order_relaxed); }
    /// There is a network that nobody hears of: there is no pipe, or it refuses to be armed.
    [[nodiscard]] bool is_deaf() const noexcept { return deaf_.load(std::memory_order_relaxed); }

    /// There are that many ranks on this process's cores. The largest number counts. With a core
    /// for each, those who wait linger at the doorbell (Doorbell::let_linger), else not any more.
    void learn_neighbours(int ranks) noexcept;
    /// Whether ranks outnumber cores: then spinning only keeps others from running.
    [[nodiscard]] bool crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }

    /// Returns when `poll` answers true: one sweep of the engine, and whether what the caller waits
    /// for has happened. Lets the host progress all the while. `meeting`, if it is not null, is
    /// rung by whoever makes that happen, and slept at in place of this process's doorbell.
    void wait(bool (*poll)(void* context) noexcept, void* context,
              Doorbell* meeting = nullptr) noexcept;

    /// The same in steps, for a wait whose loop is not ours: called after each poll,
    /// it returns at once at first, and later sleeps, each time for as long at most as
    /// whatever else the caller waits for may be late. A thread that does other things in between
    /// starts anew, and so does one whose poll has `moved` something: that is a step as well, for
    /// the host's sake, but no pause.
    void pause(bool moved, bool (*poll)(void* context) noexcept, void* context) noexcept;

    /// For a thread that polls by calls that are over at once, after some of them: where ranks
    /// outnumber cores it gives the core to whoever wants it, who may be the one waited for.
    void give_way() noexcept;

    /// Whether this thread is to sweep and pause before it is told about a thing that it asks for:
    /// of several that it asks for in turn, one after the other, only once in a turn. `asked`: when
    /// any thread has asked for that thing last; at first 0.
    [[nodiscard]] static bool begins_turn(std::atomic<Time>& asked) noexcept;

    /// Before `doze` is called for longer than a millisecond: nobody lingers any more.
    void expect_long_sleeps() noexcept;
    /// Nobody will do that any more.
    void expect_short_sleeps() noexcept;

    /// One sleep: until a ring, or until something arrives, or for `limit`. None where `poll`,
    /// which it calls before that, answers true. It does not let the host progress.
    void doze(bool (*poll)(void* context) noexcept, void* context, Time limit) noexcept
    {
        nap(bell_, poll, context, limit);
    }

    /// One sleep of the interrupt thread: until what it is interested in happens, or something
    /// arrives, or for `limit`; rings do not end it. None where a look is owed, or `poll` answers
    /// true, which it calls before that.
    Roused doze_for_call(bool (*poll)(void*) noexcept, void* context, Time limit) noexcept;
    /// Ends that sleep.
    void summon() noexcept
    {
        summons_.fetch_add(1, std::memory_order_seq_cst);
        bell_.summon();
    }
    [[nodiscard]] Interest& interest() noexcept { return bell_.interest(); }

    /// The calling thread, which may have listened in a wait, is about to do other things: who
    /// sleeps for long listens from now on. Nobody would: one exchange.
    void tell_long_sleeper() noexcept;

    /// After a sweep that may have completed what another thread of this process waits for.
    /// Nobody asleep: one load.
    void rouse() noexcept { bell_.ring(); }

private:
    /// What came of a nap: whether its poll answered true, whether somebody rang, and whether it
    /// has listened to the network.
    struct Nap {
        bool polled;
        bool rung;
        bool listened;
    };
    /// `waits`: others follow at once, and then `tell_long_sleeper`.
    Nap nap(Doorbell& bell, bool (*poll)(void*) noexcept, void* context, Time limit,
            bool waits = false) noexcept;
    void wait_in_naps(bool (*poll)(void*) noexcept, void* context, Doorbell& bell,
                      bool& listened) noexcept;
    bool spin(bool (*poll)(void*) noexcept, void* context) noexcept;
    bool spin(bool (*poll)(void*) noexcept, void* context, bool& closed) noexcept;
    bool yield(bool (*poll)(void*) noexcept, void* context) noexcept;
    void end_pauses() noexcept;
    void pause_crowded(bool (*poll)(void*) noexcept, void* context) noexcept;
    [[nodiscard]] bool take_listener() noexcept;
    [[nodiscard]] bool arm(Time& limit) noexcept;
    void grow_deaf() noexcept;
    [[nodiscard]] bool close_gate() noexcept;
    void open_gate() noexcept;
    static bool linger(bool (*poll)(void*) noexcept, void* context) noexcept;

    void sleep(Doorbell& bell, Doorbell::Visit visit, Time limit, bool listening) noexcept;

    Doorbell& bell_;
    YieldBudget yield_budget_;
    std::atomic<bool> crowded_{false}; ///< set once; relaxed: a late reader only spins longer
    /// Of several threads that sleep one listens to the network. Taken by an acquire exchange,
    /// given back by a release store; at first by `listen_to`.
    std::atomic<bool> listener_taken_{true};
    std::atomic<bool> listens_{false};     ///< between `listen_to` and `stop_listening`
    std::atomic<bool> deaf_{false};        ///< set between these, by a thread that listens or would
    std::atomic<bool> long_sleeps_{false}; ///< there is a thread for them; relaxed: a hint
    /// A thread sleeps for long without the network, since another one listens: whoever stops
    /// listening wakes it. Set before a last look whether somebody does.
    std::atomic<bool> listener_wanted_{false};
    std::atomic<unsigned> summons_{0}; ///< counted before the word changes
    /// The interrupt thread sleeps at the network, through the gate. Threads that poll for longer
    /// than a moment close it, counted, until they have what they wait for, or sleep themselves.
    std::atomic<bool> dozes_{false};
    std::atomic<int> pollers_{0};
    NetworkGate gate_;
    BellPipe pipe_;
    Network network_;
};

} // namespace sidelight::host::node
