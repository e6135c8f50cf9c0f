// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/mapped/mapped_fabric.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>

#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

using fabric::MappedFabric;
using fabric::PeerAddress;

constexpr std::chrono::seconds for_ever{120};

/// Sleeps at the process's own bell until the word is there; whether it was a ring that ended it.
bool sleep_until(MappedFabric& fabric, const std::atomic<int>& word, int number)
{
    while (word.load() < number) {
        const auto start = std::chrono::steady_clock::now();
        const Doorbell::Visit visit = fabric.bell().enter();
        if (word.load() < number) {
            fabric.bell().sleep(visit, for_ever);
        }
        if (!fabric.bell().leave(visit) && std::chrono::steady_clock::now() - start >= for_ever) {
            return false;
        }
    }
    return true;
}

struct Counters {
    std::atomic<int> parent{0};
    std::atomic<int> child{0};
};

constexpr int rounds = 5000;

bool ring_and_sleep(MappedFabric& fabric, int peer, std::atomic<int>& theirs,
                    const std::atomic<int>& own)
{
    for (int round = 1; round <= rounds; ++round) {
        theirs.fetch_add(1);
        fabric.wake(peer, {});
        if (!sleep_until(fabric, own, round)) {
            return false;
        }
    }
    return true;
}

TEST(MappedFabricProcesses, WakeEachOther)
{
    const File file = create_memory_file();
    const Mapping page = Mapping::shared(file, sizeof(Counters));
    ASSERT_TRUE(page);
    Counters& counters = *new (page.data()) Counters;
    const Channel to_child;
    const Channel to_parent;
    const pid_t child = start_process([&] {
        MappedFabric fabric;
        PeerAddress parent;
        return to_parent.send(fabric.address()) && to_child.receive(parent) &&
               ring_and_sleep(fabric, fabric.meet(parent), counters.parent, counters.child);
    });
    MappedFabric fabric;
    PeerAddress address;
    ASSERT_TRUE(to_child.send(fabric.address()));
    ASSERT_TRUE(to_parent.receive(address));
    const int peer = fabric.meet(address);
    EXPECT_NE(peer, MappedFabric::own_peer);
    EXPECT_TRUE(ring_and_sleep(fabric, peer, counters.child, counters.parent));
    EXPECT_TRUE(went_well(child));
    EXPECT_EQ(counters.parent.load(), rounds);
    EXPECT_EQ(counters.child.load(), rounds);
    fabric.wake(peer, {}); // it is dead, its page is not
}

TEST(MappedFabric, MeetsAProcessOnce)
{
    MappedFabric one;
    const MappedFabric two;
    const MappedFabric three;
    EXPECT_NE(one.address().identity, two.address().identity);
    EXPECT_EQ(one.meet(one.address()), MappedFabric::own_peer);
    const int second = one.meet(two.address());
    const int third = one.meet(three.address());
    EXPECT_NE(second, MappedFabric::own_peer);
    EXPECT_NE(third, MappedFabric::own_peer);
    EXPECT_NE(second, third);
    EXPECT_EQ(one.meet(two.address()), second);
    EXPECT_EQ(one.meet(three.address()), third);
}

/// Networks may come and go for as long as the program runs.
TEST(MappedFabric, MapsAProcessThatBeginsAnewOnce)
{
    MappedFabric one;
    MappedFabric other;
    const int peer = one.meet(other.address());
    const PeerAddress before = other.address();
    other.begin_anew();
    EXPECT_NE(other.address().identity, before.identity);
    EXPECT_EQ(one.meet(other.address()), peer);
    EXPECT_EQ(one.meet(before), peer);
    const Doorbell::Visit visit = other.bell().enter();
    one.wake(peer, {});
    EXPECT_TRUE(other.bell().leave(visit));
}

TEST(MappedFabric, WakesTheOneThatItIsAskedTo)
{
    MappedFabric one;
    MappedFabric two;
    MappedFabric three;
    const int second = one.meet(two.address());
    const int third = one.meet(three.address());
    const Doorbell::Visit at_own = one.bell().enter();
    const Doorbell::Visit at_second = two.bell().enter();
    const Doorbell::Visit at_third = three.bell().enter();
    one.wake(third, {});
    EXPECT_FALSE(two.bell().leave(at_second));
    EXPECT_TRUE(three.bell().leave(at_third));
    const Doorbell::Visit again = two.bell().enter();
    one.wake(second, {});
    EXPECT_TRUE(two.bell().leave(again));
    one.wake(MappedFabric::own_peer, {});
    EXPECT_TRUE(one.bell().leave(at_own));
}

TEST(MappedFabric, OneThatIsGoneIsMetAndNotWoken)
{
    MappedFabric fabric;
    PeerAddress gone;
    {
        const MappedFabric short_lived;
        gone = short_lived.address();
    }
    const int peer = fabric.meet(gone);
    EXPECT_NE(peer, MappedFabric::own_peer);
    EXPECT_EQ(fabric.meet(gone), peer);
    fabric.wake(peer, {});
}

TEST(MappedFabric, CarriesNoMessages)
{
    struct Nobody final : fabric::Receiver {
        void receive(int, std::span<const std::byte>) noexcept override { ++received; }
        std::byte* place(int, std::span<const std::byte>, std::size_t) noexcept override
        {
            return nullptr;
        }
        void placed(int, std::span<const std::byte>, std::size_t) noexcept override {}
        void lost(int) noexcept override {}
        int received = 0;
    } nobody;
    MappedFabric fabric;
    EXPECT_EQ(fabric.send(MappedFabric::own_peer, {}, {}), Status::unsupported);
    EXPECT_FALSE(fabric.poll(nobody));
    EXPECT_EQ(nobody.received, 0);
}

} // namespace
} // namespace sidelight::unit
