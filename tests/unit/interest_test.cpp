// SPDX-License-Identifier: BSD-3-Clause
#include "base/interest.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace sidelight {

namespace {

using namespace std::chrono_literals;

constexpr Events first = 1;
constexpr Events second = 2;

Wanted wanted_of(Events bits, std::uint64_t value)
{
    Wanted wanted;
    wanted.add({.bits = bits, .value = value, .any_value = false});
    return wanted;
}

Event event_of(Events bits, std::uint64_t value)
{
    return {.bits = bits, .value = value, .any_value = false};
}

/// As who leaves the engine with wishes that nothing has happened to.
void ask_for(Interest& interest, const Wanted& wanted)
{
    interest.enter();
    while (!interest.leave(wanted)) {
    }
}

} // namespace

TEST(Interest, NothingAskedForCallsNobody)
{
    Interest interest;
    EXPECT_EQ(interest.tell(event_of(first, 1)), Interest::Told::nothing);
    EXPECT_FALSE(interest.is_called());
}

TEST(Interest, OnlyTheValueThatIsWaitedForCalls)
{
    Interest interest;
    ask_for(interest, wanted_of(first, 7));
    EXPECT_EQ(interest.tell(event_of(second, 7)), Interest::Told::nothing);
    EXPECT_EQ(interest.tell(event_of(first, 6)), Interest::Told::nothing);
    EXPECT_EQ(interest.tell(event_of(first, 7)), Interest::Told::at_word);
    EXPECT_TRUE(interest.is_called());
}

TEST(Interest, OneCallStandsForAllUntilItIsAnswered)
{
    Interest interest;
    ask_for(interest, wanted_of(first, 7));
    EXPECT_EQ(interest.tell(event_of(first, 7)), Interest::Told::at_word);
    EXPECT_EQ(interest.tell(event_of(first, 7)), Interest::Told::nothing);
    interest.enter();
    EXPECT_TRUE(interest.answer_call());
    EXPECT_FALSE(interest.answer_call());
}

TEST(Interest, WhoIsInsideFindsTheMarkWhenItLeaves)
{
    Interest interest;
    ask_for(interest, wanted_of(first, 7));
    interest.enter();
    EXPECT_EQ(interest.tell(event_of(first, 7)), Interest::Told::nothing);
    EXPECT_FALSE(interest.leave(wanted_of(first, 7))); // has to look
    EXPECT_TRUE(interest.leave({}));
    EXPECT_EQ(interest.events(), no_events);
}

/// Neighbours call again and again while it looks: it leaves, and the thread does not sleep.
TEST(Interest, WhoLeavesOwingALookLeavesTheMark)
{
    Interest interest;
    ask_for(interest, wanted_of(first, 7));
    interest.enter();
    EXPECT_EQ(interest.tell(event_of(first, 7)), Interest::Told::nothing);
    EXPECT_FALSE(interest.leave(wanted_of(first, 7)));
    interest.leave_owing();
    EXPECT_FALSE(interest_word::may_sleep(interest.begin_visit(false)));
    EXPECT_EQ(interest.tell(event_of(first, 7)), Interest::Told::nothing);
    interest.enter();
    EXPECT_TRUE(interest.answer_call());
    EXPECT_TRUE(interest.leave(wanted_of(first, 7)));
    EXPECT_EQ(interest.tell(event_of(first, 7)), Interest::Told::at_word);
}

TEST(Interest, OfSeveralInsideTheLastOneOwesTheLook)
{
    Interest interest;
    ask_for(interest, wanted_of(first, 7));
    interest.enter();
    interest.enter();
    EXPECT_EQ(interest.tell(event_of(first, 7)), Interest::Told::nothing);
    EXPECT_FALSE(interest.leave_as_it_is());
    EXPECT_TRUE(interest.leave_as_it_is());
}

TEST(Interest, WhatIsAskedForAnewIsLookedForOnceMore)
{
    Interest interest;
    interest.enter();
    EXPECT_FALSE(interest.leave(wanted_of(first, 7)));
    EXPECT_TRUE(interest.leave(wanted_of(first, 7)));
    interest.enter();
    EXPECT_FALSE(interest.leave(wanted_of(first, 8))); // another value
    EXPECT_TRUE(interest.leave(wanted_of(first, 8)));
}

TEST(Interest, TwoWishesWithOneBitAskForAnyValue)
{
    Interest interest;
    Wanted both = wanted_of(first, 7);
    both.add(event_of(first, 9));
    ask_for(interest, both);
    EXPECT_EQ(interest.tell(event_of(first, 8)), Interest::Told::at_word);
}

TEST(Interest, TheLowHalfIsEnoughWhereItIsAskedFor)
{
    Interest interest;
    Wanted low;
    low.add(event_of(first, 7), true);
    ask_for(interest, low);
    EXPECT_EQ(interest.tell(event_of(first, 8)), Interest::Told::nothing);
    EXPECT_EQ(interest.tell(event_of(first, (std::uint64_t{5} << 32) + 7)),
              Interest::Told::at_word);
}

/// A neighbour counts, a thread is called for each number in turn: none may be missed, and none
/// called for that nobody waits for.
TEST(Interest, NoCallIsLostAndNoneIsFutile)
{
    constexpr std::uint64_t events = 100'000;
    Interest interest;
    std::atomic<std::uint64_t> counter{0};
    std::atomic<std::uint64_t> seen{0};
    std::uint64_t calls = 0;
    std::uint64_t futile = 0;
    std::thread owner([&] {
        const auto look = [&] {
            const std::uint64_t now = counter.load(std::memory_order_acquire);
            const bool moved = now > seen.load(std::memory_order_relaxed);
            seen.store(now, std::memory_order_release);
            return moved;
        };
        bool called = false;
        while (seen.load(std::memory_order_relaxed) < events) {
            interest.enter();
            interest.answer_call();
            const bool moved = look();
            calls += called ? 1 : 0;
            futile += called && !moved ? 1 : 0;
            while (!interest.leave(wanted_of(first, seen.load(std::memory_order_relaxed) + 1))) {
                look();
            }
            if (seen.load(std::memory_order_relaxed) >= events) {
                break;
            }
            const std::uint64_t visit = interest.begin_visit(false);
            if (interest_word::may_sleep(visit)) {
                interest.sleep(visit, 600s);
            }
            called = interest.end_visit(visit);
        }
    });
    std::uint64_t lost = 0;
    for (std::uint64_t event = 1; event <= events && lost == 0; ++event) {
        counter.exchange(event, std::memory_order_seq_cst);
        static_cast<void>(interest.tell(event_of(first, event)));
        const auto limit = std::chrono::steady_clock::now() + 60s;
        while (seen.load(std::memory_order_acquire) < event && lost == 0) {
            lost = std::chrono::steady_clock::now() < limit ? 0 : event;
            std::this_thread::yield();
        }
    }
    if (lost != 0) { // the owner ends with the last event
        counter.store(events, std::memory_order_seq_cst);
        static_cast<void>(interest.summon());
    }
    owner.join();
    EXPECT_EQ(lost, 0U) << "is the number of a call that was lost";
    EXPECT_LE(futile * 100, calls);
}

} // namespace sidelight
