// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "fabric/sim/random.hpp"
#include "rma/epoch/control.hpp"
#include "rma/members.hpp"

namespace sidelight::rma {
namespace {

constexpr LockType exclusive = LockType::exclusive;
constexpr LockType shared = LockType::shared;

TEST(LockQueue, WritersEnterOneByOneInTheOrderTheyCame)
{
    LockQueue queue;
    const LockPlace first = queue.arrive(exclusive);
    const LockPlace second = queue.arrive(exclusive);
    const LockPlace third = queue.arrive(exclusive);
    EXPECT_TRUE(queue.admits(exclusive, first));
    EXPECT_FALSE(queue.admits(exclusive, second));
    EXPECT_FALSE(queue.admits(exclusive, third));
    EXPECT_TRUE(queue.depart(exclusive));
    EXPECT_TRUE(queue.admits(exclusive, second));
    EXPECT_FALSE(queue.admits(exclusive, third));
    EXPECT_TRUE(queue.depart(exclusive));
    EXPECT_TRUE(queue.admits(exclusive, third));
    EXPECT_FALSE(queue.depart(exclusive)); // nobody else holds a place
}

TEST(LockQueue, ReadersNextToEachOtherEnterTogether)
{
    LockQueue queue;
    const LockPlace early = queue.arrive(shared);
    const LockPlace beside = queue.arrive(shared);
    const LockPlace writer = queue.arrive(exclusive);
    const LockPlace late = queue.arrive(shared);
    EXPECT_TRUE(queue.admits(shared, early));
    EXPECT_TRUE(queue.admits(shared, beside));
    EXPECT_FALSE(queue.admits(exclusive, writer));
    EXPECT_FALSE(queue.admits(shared, late)); // no overtaking
    EXPECT_TRUE(queue.depart(shared));
    EXPECT_FALSE(queue.admits(exclusive, writer));
    EXPECT_TRUE(queue.depart(shared));
    EXPECT_TRUE(queue.admits(exclusive, writer));
    EXPECT_FALSE(queue.admits(shared, late));
    EXPECT_TRUE(queue.depart(exclusive));
    EXPECT_TRUE(queue.admits(shared, late));
    EXPECT_FALSE(queue.depart(shared));
}

TEST(LockQueue, TriesOnlyWhereItWouldNotWait)
{
    LockQueue queue;
    EXPECT_TRUE(queue.try_arrive(shared));
    EXPECT_TRUE(queue.try_arrive(shared));
    EXPECT_FALSE(queue.try_arrive(exclusive));
    EXPECT_TRUE(queue.depart(shared));
    EXPECT_FALSE(queue.depart(shared)); // the refused one has left no place behind
    EXPECT_TRUE(queue.try_arrive(exclusive));
    EXPECT_FALSE(queue.try_arrive(exclusive));
    EXPECT_FALSE(queue.try_arrive(shared));
    const LockPlace behind = queue.arrive(shared);
    EXPECT_TRUE(queue.depart(exclusive));
    EXPECT_TRUE(queue.admits(shared, behind));
    EXPECT_FALSE(queue.depart(shared));
}

/// A queue that has been in use for a long time: both sums stand at `used`.
struct UsedQueue {
    explicit UsedQueue(std::uint64_t used)
    {
        std::memcpy(memory_.data(), &used, sizeof used);
        std::memcpy(memory_.data() + 64, &used, sizeof used);
    }
    LockQueue& queue() { return *std::launder(reinterpret_cast<LockQueue*>(memory_.data())); }

private:
    static_assert(sizeof(LockQueue) == 128);
    alignas(LockQueue) std::array<std::byte, sizeof(LockQueue)> memory_{};
};

/// Everyone comes before anyone leaves; then enters whom the queue admits.
void expect_passes(LockQueue& queue, const std::vector<LockType>& order)
{
    struct Holder {
        LockType type;
        LockPlace place;
    };
    std::vector<Holder> waiting;
    for (const LockType type : order) {
        waiting.push_back({type, queue.arrive(type)});
    }
    for (std::size_t next = 0; next < waiting.size(); ++next) {
        ASSERT_TRUE(queue.admits(waiting[next].type, waiting[next].place)) << next;
        const bool writer = waiting[next].type == exclusive;
        if (next + 1 < waiting.size()) {
            const Holder& behind = waiting[next + 1];
            const bool together = !writer && behind.type == shared;
            ASSERT_EQ(queue.admits(behind.type, behind.place), together) << next;
        }
        ASSERT_EQ(queue.depart(waiting[next].type), next + 1 < waiting.size());
    }
}

TEST(LockQueue, GoesOnWhenItsCountersWrapAround)
{
    fabric::sim::Random random(5);
    for (const std::uint64_t used :
         {std::uint64_t{0}, std::uint64_t{UINT32_MAX} - 3, UINT64_MAX - UINT32_MAX, UINT64_MAX - 3,
          (std::uint64_t{UINT32_MAX} - 1) << 32}) {
        SCOPED_TRACE(used);
        UsedQueue used_queue(used);
        for (int round = 0; round < 100; ++round) {
            std::vector<LockType> order;
            for (int i = 0; i < 10; ++i) {
                order.push_back(random.chance(50) ? shared : exclusive);
            }
            expect_passes(used_queue.queue(), order);
            ASSERT_FALSE(testing::Test::HasFatalFailure());
        }
    }
}

/// What the lock guards, and who is inside.
struct Guarded {
    LockQueue queue;
    std::atomic<int> readers{0};
    std::atomic<int> writers{0};
    std::uint64_t value = 0;  ///< written by writers
    std::uint64_t mirror = 0; ///< with it
    std::atomic<int> broken{0};
    std::atomic<int> refused{0};
};

void hold(Guarded& guarded, LockType type)
{
    if (type == exclusive) {
        guarded.broken += guarded.writers.fetch_add(1) != 0 || guarded.readers.load() != 0;
        guarded.value += 1;
        guarded.mirror += 1;
        guarded.writers.fetch_sub(1);
    } else {
        guarded.readers.fetch_add(1);
        guarded.broken += guarded.writers.load() != 0 || guarded.value != guarded.mirror;
        guarded.readers.fetch_sub(1);
    }
    guarded.queue.depart(type);
}

void use(Guarded& guarded, std::uint64_t seed, int rounds, unsigned tries)
{
    fabric::sim::Random random(seed);
    for (int round = 0; round < rounds; ++round) {
        const LockType type = random.chance(50) ? shared : exclusive;
        if (random.chance(tries) && !guarded.queue.try_arrive(type)) {
            guarded.refused += type == exclusive;
            continue;
        }
        if (tries == 0) {
            const LockPlace place = guarded.queue.arrive(type);
            while (!guarded.queue.admits(type, place)) {
                std::this_thread::yield();
            }
        }
        hold(guarded, type);
    }
}

std::uint64_t writers_of(std::uint64_t seed, int rounds, unsigned tries)
{
    fabric::sim::Random random(seed);
    std::uint64_t writers = 0;
    for (int round = 0; round < rounds; ++round) {
        writers += !random.chance(50);
        static_cast<void>(random.chance(tries));
    }
    return writers;
}

void expect_exclusion(unsigned tries)
{
    constexpr std::size_t threads = 4;
    constexpr int rounds = 5000;
    auto guarded = std::make_unique<Guarded>();
    std::vector<std::thread> running;
    std::uint64_t writers = 0;
    for (std::uint64_t seed = 0; seed < threads; ++seed) {
        writers += writers_of(seed, rounds, tries);
        running.emplace_back([&guarded, seed, tries] { use(*guarded, seed, rounds, tries); });
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    EXPECT_EQ(guarded->broken.load(), 0);
    EXPECT_EQ(guarded->value + static_cast<std::uint64_t>(guarded->refused.load()), writers);
    EXPECT_EQ(guarded->value, guarded->mirror);
    EXPECT_FALSE((static_cast<void>(guarded->queue.arrive(shared)), guarded->queue.depart(shared)));
}

TEST(LockQueue, ThreadsThatWaitExcludeOneAnother) { expect_exclusion(0); }

TEST(LockQueue, ThreadsThatTryExcludeOneAnother) { expect_exclusion(100); }

TEST(LockQueue, ReadersAreInsideAtTheSameTime)
{
    LockQueue queue;
    std::atomic<int> inside{0};
    const auto read = [&] {
        const LockPlace place = queue.arrive(shared);
        while (!queue.admits(shared, place)) {
            std::this_thread::yield();
        }
        ++inside;
        while (inside.load() < 3) { // leaves when all are in
            std::this_thread::yield();
        }
        queue.depart(shared);
    };
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back(read);
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(inside.load(), 3);
}

TEST(Control, HasWordsForEveryMemberInItsBlock)
{
    for (const std::size_t members : {1U, 2U, 3U, 17U}) {
        const std::size_t bytes = Control::bytes(members);
        EXPECT_EQ(bytes % 64, 0U);
        const std::unique_ptr<std::byte[], void (*)(std::byte*)> memory(
            new (std::align_val_t{64}) std::byte[bytes](),
            [](std::byte* block) { operator delete[](block, std::align_val_t{64}); });
        Control* control = Control::create(memory.get());
        for (std::size_t peer = 0; peer < members; ++peer) {
            PeerNotices& words = control->notices(static_cast<int>(peer));
            EXPECT_EQ(words.granted.load(), 0U);
            EXPECT_EQ(words.done.fetch_add(peer), 0U);
            EXPECT_LE(reinterpret_cast<std::byte*>(&words + 1), memory.get() + bytes);
        }
        for (std::size_t peer = 0; peer < members; ++peer) {
            EXPECT_EQ(control->notices(static_cast<int>(peer)).done.load(), peer);
        }
        EXPECT_TRUE(control->lock.try_arrive(exclusive));
    }
}

TEST(BarrierWord, IsPassedByNobodyBeforeAllHaveArrived)
{
    constexpr std::uint64_t members = 3;
    constexpr std::uint64_t barriers = 3000;
    BarrierWord word;
    std::array<std::atomic<std::uint64_t>, members> at{};
    std::atomic<int> broken{0};
    const auto run = [&](std::uint64_t rank) {
        for (std::uint64_t number = 1; number <= barriers; ++number) {
            at[rank].store(number);
            word.arrivals.fetch_add(1);
            while (!rules::barrier_passed(number, members, word.arrivals.load())) {
                std::this_thread::yield();
            }
            for (const auto& other : at) {
                broken += other.load() < number || other.load() > number + 1;
            }
        }
    };
    std::vector<std::thread> running;
    for (std::uint64_t rank = 0; rank < members; ++rank) {
        running.emplace_back(run, rank);
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    EXPECT_EQ(broken.load(), 0);
    EXPECT_EQ(word.arrivals.load(), members * barriers);
}

} // namespace
} // namespace sidelight::rma
