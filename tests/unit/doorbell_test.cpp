// SPDX-License-Identifier: BSD-3-Clause
#include "base/doorbell.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "base/shared_memory.hpp"
#include "fabric/sim/random.hpp"
#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

using fabric::sim::Random;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// Nobody sleeps that long unless a wake-up was lost.
constexpr seconds for_ever{120};

/// What two sides share: each rings the other's bell when it has written the other's word.
struct Table {
    std::array<Doorbell, 2> bells;
    std::array<std::atomic<std::uint64_t>, 2> words{};
    std::atomic<bool> lost{false};
    bool publishing = false; ///< writing and ringing are one call
    bool lingering = false;  ///< who has entered looks for a while
};

/// The last look of who has entered.
bool has_come(const Table& table, std::size_t side, std::uint64_t number)
{
    const std::atomic<std::uint64_t>& word = table.words[side];
    if (word.load(std::memory_order_acquire) >= number) {
        return true;
    }
    const auto end = std::chrono::steady_clock::now() + Doorbell::linger_time;
    for (bool last = !table.lingering; !last;) {
        last = std::chrono::steady_clock::now() >= end;
        if (word.load(std::memory_order_acquire) >= number) {
            return true;
        }
    }
    return false;
}

/// Sleeps until the word has reached `number`. Whether every ring was heard.
bool await(Table& table, std::size_t side, std::uint64_t number)
{
    Doorbell& bell = table.bells[side];
    const std::atomic<std::uint64_t>& word = table.words[side];
    while (word.load(std::memory_order_acquire) < number) {
        const auto start = std::chrono::steady_clock::now();
        const Doorbell::Visit visit = bell.enter();
        if (!has_come(table, side, number)) {
            bell.sleep(visit, for_ever);
        }
        const bool rung = bell.leave(visit);
        if (table.lost || (!rung && std::chrono::steady_clock::now() - start >= for_ever)) {
            table.lost = true;
            return false;
        }
    }
    return true;
}

/// One of two that take turns. Now and then it comes a little later, so that the other is found on
/// its way to sleep, asleep, or not gone yet.
bool take_turns(Table& table, std::size_t side, std::uint64_t rounds)
{
    Random random(side);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        if (side == 1 && !await(table, side, round)) {
            return false;
        }
        for (std::uint64_t delay = random.below(200); delay > 0; --delay) {
            relax_cpu();
        }
        if (table.publishing) {
            table.bells[1 - side].publish(table.words[1 - side], round);
        } else {
            table.words[1 - side].fetch_add(1, std::memory_order_seq_cst);
            table.bells[1 - side].ring();
        }
        if (side == 0 && !await(table, side, round)) {
            return false;
        }
    }
    return true;
}

constexpr std::uint64_t rounds = 100'000;

TEST(Doorbell, LosesNoRingBetweenThreads)
{
    Table table;
    bool other = false;
    std::thread thread([&] { other = take_turns(table, 1, rounds); });
    const bool own = take_turns(table, 0, rounds);
    thread.join();
    EXPECT_TRUE(own && other);
    EXPECT_EQ(table.words[0].load() + table.words[1].load(), 2 * rounds);
}

/// Two processes that take turns; whether every wake-up was heard.
bool take_turns_in_processes(bool publishing, bool lingering)
{
    const File file = create_memory_file();
    const Mapping page = Mapping::shared(file, sizeof(Table));
    if (!page) {
        return false;
    }
    Table& table = *new (page.data()) Table;
    table.publishing = publishing;
    table.lingering = lingering;
    table.bells[0].let_linger(lingering);
    table.bells[1].let_linger(lingering);
    const pid_t child = start_process([&] { return take_turns(table, 1, rounds); });
    const bool own = take_turns(table, 0, rounds);
    return went_well(child) && own;
}

TEST(DoorbellProcesses, LoseNoRing) { EXPECT_TRUE(take_turns_in_processes(false, false)); }

/// Plain stores: what the sleeper does not find while it lingers has found the sleeper.
TEST(DoorbellProcesses, LoseNoPublishedWordWhereTheyLinger)
{
    EXPECT_TRUE(take_turns_in_processes(true, true));
}

/// Where they do not linger the same call is an atomic instruction and a barrier.
TEST(DoorbellProcesses, LoseNoPublishedWordWhereTheyDoNotLinger)
{
    EXPECT_TRUE(take_turns_in_processes(true, false));
}

/// Waits for another thread, which may need this core.
void spin_until(const std::atomic<std::uint64_t>& word, std::uint64_t number)
{
    for (int polls = 1; word.load(std::memory_order_acquire) < number; ++polls) {
        if (polls % 10'000 == 0) {
            std::this_thread::yield();
        }
    }
}

/// A sleeper enters at the moment in which the word is published. If neither saw the other, it
/// would sleep. Without a lingering look that was so in 1 of 250 to 40,000 rounds on two cores.
TEST(Doorbell, AStoreArrivesWhileTheSleeperLingers)
{
    constexpr int longest_delay = 1000;
    struct alignas(64) Word {
        std::atomic<std::uint64_t> value{0};
    };
    Table table;
    table.lingering = true;
    Doorbell& bell = table.bells[0];
    bell.let_linger(true);
    Word begun;
    Word ended;
    const auto delay = [](Random& random) {
        for (std::uint64_t left = random.below(longest_delay); left > 0; --left) {
            asm volatile("");
        }
    };
    std::thread waker([&] {
        Random random(1);
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            spin_until(begun.value, round);
            delay(random);
            bell.publish(table.words[0], round);
            ended.value.store(round, std::memory_order_release);
        }
    });
    Random random(2);
    std::uint64_t missed = 0;
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        begun.value.store(round, std::memory_order_release);
        delay(random);
        const Doorbell::Visit visit = bell.enter();
        const bool seen = has_come(table, 0, round);
        spin_until(ended.value, round);
        missed += !bell.leave(visit) && !seen ? 1U : 0U;
    }
    waker.join();
    EXPECT_EQ(missed, 0U);
}

/// Several sleepers, who all wait for the same word, and one that rings once for all of them.
TEST(Doorbell, WakesAllWhoSleep)
{
    constexpr int sleepers = 4;
    constexpr std::uint64_t times = 2000;
    Table table;
    std::atomic<std::uint64_t> arrived{0};
    std::array<std::thread, sleepers> threads;
    for (std::thread& thread : threads) {
        thread = std::thread([&] {
            for (std::uint64_t number = 1; number <= times && await(table, 0, number); ++number) {
                arrived.fetch_add(1);
                table.bells[1].ring();
            }
        });
    }
    for (std::uint64_t number = 1; number <= times && !table.lost; ++number) {
        table.words[0].store(number, std::memory_order_seq_cst);
        full_barrier();
        table.bells[0].ring();
        while (arrived.load() < sleepers * number && !table.lost) {
            std::this_thread::yield();
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_FALSE(table.lost);
    EXPECT_EQ(arrived.load(), sleepers * times);
}

TEST(Doorbell, SleepsNoLongerThanItsLimit)
{
    Doorbell bell;
    for (const nanoseconds limit : {nanoseconds(0), nanoseconds(1), nanoseconds(2'000'000)}) {
        const Doorbell::Visit visit = bell.enter();
        bell.sleep(visit, limit); // or the test never ends
        EXPECT_FALSE(bell.leave(visit));
    }
}

TEST(Doorbell, ARingBeforeTheSleepIsNotSleptThrough)
{
    Doorbell bell;
    const Doorbell::Visit visit = bell.enter();
    bell.ring();
    bell.sleep(visit, std::chrono::hours(1));
    EXPECT_TRUE(bell.leave(visit));
}

TEST(Doorbell, ARingBeforeTheVisitIsNotHeard)
{
    Doorbell bell;
    bell.ring();
    const Doorbell::Visit visit = bell.enter();
    EXPECT_FALSE(bell.leave(visit));
    bell.ring(); // nobody is there any more
    const Doorbell::Visit again = bell.enter();
    EXPECT_EQ(again.rings, visit.rings);
    EXPECT_FALSE(bell.leave(again));
}

TEST(Doorbell, OneRingAnswersEveryVisit)
{
    Doorbell bell;
    const Doorbell::Visit first = bell.enter();
    const Doorbell::Visit second = bell.enter();
    bell.ring();
    const Doorbell::Visit late = bell.enter();
    EXPECT_TRUE(bell.leave(first));
    EXPECT_FALSE(bell.leave(late));
    EXPECT_TRUE(bell.leave(second));
    const Doorbell::Visit last = bell.enter();
    bell.ring();
    EXPECT_TRUE(bell.leave(last));
}

} // namespace
} // namespace sidelight::unit
