// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/wait.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/shared_memory.hpp"
#include "host/mpi/progress.hpp"
#include "host/node/progress_thread.hpp"
#include "unit/processes.hpp"

namespace sidelight::host::mpi {

/// No host here.
void poll_host() noexcept {}

} // namespace sidelight::host::mpi

namespace sidelight::unit {
namespace {

using host::node::ProgressThread;
using host::node::Waiter;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr seconds for_ever{120};

/// A network that brings nothing but numbers: each one sent can be read at the descriptor until it
/// is taken. As of UCX, nothing is told before it is armed, and it cannot be armed when something
/// is there.
class Numbers {
public:
    Numbers() : descriptor_(eventfd(0, EFD_NONBLOCK)) {}
    ~Numbers() { close(descriptor_); }
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;

    [[nodiscard]] host::node::Network network() noexcept
    {
        return {.descriptor = descriptor_, .arm = arm, .context = this};
    }
    void send() noexcept
    {
        sent_.fetch_add(1, std::memory_order_seq_cst);
        if (armed_.exchange(false)) {
            eventfd_write(descriptor_, 1);
        }
    }
    /// Whether there was one.
    bool take() noexcept
    {
        eventfd_t news = 0;
        eventfd_read(descriptor_, &news);
        std::uint64_t seen = taken_.load();
        while (seen < sent_.load()) {
            if (taken_.compare_exchange_weak(seen, seen + 1)) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_.load(); }
    [[nodiscard]] int refusals() const noexcept { return refusals_.load(); }

private:
    static Arming arm(void* context) noexcept
    {
        auto& self = *static_cast<Numbers*>(context);
        self.armed_.exchange(true);
        const bool nothing = self.sent_.load() == self.taken_.load();
        self.refusals_ += nothing ? 0 : 1;
        return nothing ? Arming::armed : Arming::news;
    }

    int descriptor_;
    std::atomic<bool> armed_{false};
    std::atomic<std::uint64_t> sent_{0};
    std::atomic<std::uint64_t> taken_{0};
    std::atomic<int> refusals_{0};
};

bool take_number(void* numbers) noexcept { return static_cast<Numbers*>(numbers)->take(); }
bool nothing(void* /*context*/) noexcept { return false; }

/// How often a short sleep looks before it sleeps: the most of some, for one may lose its core.
int looks(Waiter& waiter)
{
    constexpr int sleeps = 20;
    int most = 0;
    for (int sleep = 0; sleep < sleeps; ++sleep) {
        int count = 0;
        waiter.doze(
            [](void* context) noexcept {
                ++*static_cast<int*>(context);
                return false;
            },
            &count, std::chrono::microseconds(50));
        most = std::max(most, count);
    }
    return most;
}

TEST(Waiter, LingersWithACoreForEachRank)
{
    Doorbell bell;
    Waiter waiter(bell);
    waiter.learn_neighbours(1);
    EXPECT_TRUE(bell.lingering());
    EXPECT_GT(looks(waiter), 1);
    waiter.learn_neighbours(100'000);
    EXPECT_FALSE(bell.lingering());
    EXPECT_EQ(looks(waiter), 1);
}

TEST(Waiter, DoesNotLingerBeforeLongSleeps)
{
    Doorbell bell;
    Waiter waiter(bell);
    waiter.learn_neighbours(1);
    waiter.expect_long_sleeps();
    EXPECT_FALSE(bell.lingering());
    waiter.learn_neighbours(1);
    EXPECT_FALSE(bell.lingering());
    EXPECT_EQ(looks(waiter), 1);
}

TEST(Waiter, HearsOfTheNetwork)
{
    Doorbell bell;
    Waiter waiter(bell);
    Numbers numbers;
    waiter.listen_to(numbers.network());
    const auto start = Clock::now();
    std::thread sender([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        numbers.send();
    });
    waiter.doze(nothing, nullptr, for_ever);
    sender.join();
    EXPECT_LT(Clock::now() - start, for_ever);
    EXPECT_TRUE(numbers.take());
}

TEST(Waiter, DoesNotSleepWhenTheNetworkHasSomething)
{
    Doorbell bell;
    Waiter waiter(bell);
    Numbers numbers;
    waiter.listen_to(numbers.network());
    numbers.send();
    const auto start = Clock::now();
    waiter.doze(nothing, nullptr, for_ever);
    EXPECT_LT(Clock::now() - start, for_ever);
    EXPECT_EQ(numbers.refusals(), 1);
}

/// A thread that sleeps for long while another one listens, and that goes on when it does not.
TEST(Waiter, ALongSleeperHearsOfTheNetworkWhenAnotherListensNoMore)
{
    Doorbell bell;
    Waiter waiter(bell);
    Numbers numbers;
    waiter.listen_to(numbers.network());
    std::thread first([&] { waiter.doze(nothing, nullptr, std::chrono::milliseconds(50)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(10)); // it listens
    std::thread sender([&] {
        first.join();
        numbers.send();
    });
    const auto start = Clock::now();
    while (!numbers.take() && Clock::now() - start < for_ever) {
        waiter.doze(nothing, nullptr, for_ever);
    }
    sender.join();
    EXPECT_LT(Clock::now() - start, for_ever);
}

/// Nor is it woken before that: who waits naps again and again, and looks in between.
TEST(Waiter, ALongSleeperSleepsOnWhileAnotherOneWaits)
{
    constexpr int most = 30; // ten for a sleep each, and more than as many again
    Doorbell bell;
    Waiter waiter(bell);
    Numbers numbers;
    waiter.expect_long_sleeps();
    waiter.listen_to(numbers.network());
    std::atomic<bool> over{false};
    std::thread waiting([&] {
        const auto end = Clock::now() + seconds(1);
        const auto has_come = [](void* at) noexcept {
            return Clock::now() >= *static_cast<const Clock::time_point*>(at);
        };
        waiter.wait(has_come, const_cast<Clock::time_point*>(&end));
        over = true;
    });
    int sleeps = 0;
    for (; !over; ++sleeps) {
        std::this_thread::sleep_for(std::chrono::microseconds(100)); // it is the one that listens
        waiter.doze(nothing, nullptr, std::chrono::milliseconds(100));
    }
    waiting.join();
    EXPECT_LT(sleeps, most);
}

/// But where what it looks at takes long, as a handler of an active message, the other one hears.
TEST(Waiter, ALongSleeperListensWhileAnotherOneDoesOtherThings)
{
    Doorbell bell;
    Waiter waiter(bell);
    Numbers numbers;
    waiter.expect_long_sleeps();
    waiter.listen_to(numbers.network());
    struct Busy {
        Waiter& waiter;
        Clock::time_point begin = Clock::now() + std::chrono::milliseconds(20);
        std::atomic<bool> over{false};
    } busy{waiter};
    std::thread waiting([&] {
        waiter.wait(
            [](void* of) noexcept {
                Busy& self = *static_cast<Busy*>(of);
                if (Clock::now() >= self.begin) {
                    self.waiter.tell_long_sleeper();
                    while (!self.over) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    }
                }
                return self.over.load();
            },
            &busy);
    });
    std::thread sender([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        numbers.send();
    });
    const auto start = Clock::now();
    while (!numbers.take() && Clock::now() - start < for_ever) {
        waiter.doze(nothing, nullptr, for_ever);
    }
    EXPECT_LT(Clock::now() - start, for_ever);
    busy.over = true;
    sender.join();
    waiting.join();
}

/// A thread of ours that looks each millisecond listens all the same.
TEST(Waiter, ThreadsOfOursListenInShortSleeps)
{
    Doorbell bell;
    Waiter waiter(bell);
    Numbers numbers;
    waiter.expect_long_sleeps();
    waiter.listen_to(numbers.network());
    numbers.send();
    waiter.doze(nothing, nullptr, host::node::longest_busy_sleep);
    EXPECT_EQ(numbers.refusals(), 1);
    waiter.doze(nothing, nullptr, std::chrono::microseconds(200));
    EXPECT_EQ(numbers.refusals(), 1) << "by itself a short one leaves it to those";
}

/// To arm the network is to have been inside: a look that is owed since then is not slept over.
TEST(Waiter, DoesNotSleepOverALookThatIsOwedSinceItArmed)
{
    Doorbell bell;
    Waiter waiter(bell);
    const host::node::Network owing{.descriptor = -1,
                                    .arm =
                                        [](void* context) noexcept {
                                            Interest& interest = *static_cast<Interest*>(context);
                                            interest.enter();
                                            interest.leave_owing();
                                            return Arming::armed;
                                        },
                                    .context = &waiter.interest()};
    waiter.listen_to(owing);
    EXPECT_EQ(waiter.doze_for_call(nothing, nullptr, for_ever), host::node::Roused::not_asleep);
}

/// Who has the engine may be in it for long, and nothing tells what comes meanwhile.
TEST(Waiter, SleepsForAWhileWhereTheNetworkCouldNotBeArmed)
{
    Doorbell bell;
    Waiter waiter(bell);
    waiter.listen_to(
        {.descriptor = -1, .arm = [](void* /*context*/) noexcept { return Arming::unarmed; }});
    EXPECT_EQ(waiter.doze_for_call(nothing, nullptr, for_ever), host::node::Roused::by_other);
    waiter.stop_listening();
}

/// The program has closed the network's own descriptors: that stays so until another is opened.
TEST(Waiter, SleepsAtTheDoorbellOnceTheNetworkRefuses)
{
    Doorbell bell;
    Waiter waiter(bell);
    int asked = 0;
    const host::node::Network refusing{.descriptor = -1,
                                       .arm =
                                           [](void* context) noexcept {
                                               ++*static_cast<int*>(context);
                                               return Arming::refused;
                                           },
                                       .context = &asked};
    for (int opened = 1; opened <= 2; ++opened) {
        EXPECT_FALSE(waiter.is_deaf());
        waiter.listen_to(refusing);
        for (int sleep = 0; sleep < 5; ++sleep) {
            const auto start = Clock::now();
            waiter.doze(nothing, nullptr, std::chrono::milliseconds(10));
            EXPECT_TRUE(sleep == 0 || Clock::now() - start >= std::chrono::milliseconds(9));
        }
        EXPECT_TRUE(waiter.is_deaf());
        EXPECT_EQ(asked, opened);
        waiter.stop_listening();
    }
}

/// One of them listens to the network, the others to the doorbell alone; a ring is for all.
TEST(Waiter, ARingWakesAllThreads)
{
    Doorbell bell;
    Waiter waiter(bell);
    Numbers numbers;
    waiter.listen_to(numbers.network());
    constexpr int times = 200;
    std::atomic<int> word{0};
    std::atomic<int> arrived{0};
    std::array<std::thread, 3> threads;
    for (std::thread& thread : threads) {
        thread = std::thread([&] {
            for (int number = 1; number <= times; ++number) {
                struct Wait {
                    std::atomic<int>& word;
                    int number;
                } wait{word, number};
                while (word.load() < number) {
                    const auto start = Clock::now();
                    waiter.doze(
                        [](void* context) noexcept {
                            auto& [seen, wanted] = *static_cast<Wait*>(context);
                            return seen.load() >= wanted;
                        },
                        &wait, for_ever);
                    EXPECT_LT(Clock::now() - start, for_ever);
                }
                arrived.fetch_add(1);
            }
        });
    }
    for (int number = 1; number <= times; ++number) {
        if (number % 8 == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1)); // they sleep by then
        }
        word.fetch_add(1);
        waiter.rouse();
        while (arrived.load() < 3 * number) {
            std::this_thread::yield();
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

/// Wakes that come by the network and by the doorbell of another process, in any order.
TEST(WaiterProcesses, HearsANeighbourAndTheNetwork)
{
    const File file = create_memory_file();
    struct Shared {
        Doorbell bell;
        std::atomic<std::uint64_t> word{0};
        std::atomic<std::uint64_t> heard{0};
    };
    const Mapping page = Mapping::shared(file, sizeof(Shared));
    ASSERT_TRUE(page);
    Shared& shared = *new (page.data()) Shared;
    Waiter waiter(shared.bell);
    Numbers numbers;
    waiter.listen_to(numbers.network());
    constexpr std::uint64_t times = 500;
    const pid_t neighbour = start_process([&] {
        for (std::uint64_t number = 1; number <= times; ++number) {
            shared.word.fetch_add(1);
            shared.bell.ring();
            while (shared.heard.load() < number) {
                std::this_thread::yield();
            }
        }
        return true;
    });
    std::thread sender([&] {
        for (std::uint64_t number = 1; number <= times; ++number) {
            numbers.send();
            while (numbers.taken() < number) {
                std::this_thread::yield();
            }
        }
    });
    struct Wait {
        Shared& shared;
        Numbers& numbers;
    } wait{shared, numbers};
    bool slept_through = false;
    while ((shared.heard.load() < times || numbers.taken() < times) && !slept_through) {
        const auto start = Clock::now();
        waiter.doze(
            [](void* context) noexcept {
                auto& [both, net] = *static_cast<Wait*>(context);
                const bool rung = both.heard.load() < both.word.load();
                both.heard.fetch_add(rung ? 1 : 0);
                return net.take() || rung;
            },
            &wait, for_ever);
        slept_through = Clock::now() - start >= for_ever;
    }
    EXPECT_FALSE(slept_through);
    sender.join();
    EXPECT_TRUE(went_well(neighbour));
}

/// As the host asks for requests in turn. Answers how often it was to sweep and pause.
template <std::size_t number>
std::size_t sweeps_of(std::array<std::atomic<Time>, number>& asked, std::size_t turns)
{
    Doorbell bell;
    Waiter waiter(bell);
    std::size_t sweeps = 0;
    for (std::size_t turn = 0; turn < turns; ++turn) {
        for (std::atomic<Time>& one : asked) {
            if (Waiter::begins_turn(one)) {
                ++sweeps;
                waiter.pause(
                    false, [](void*) noexcept { return false; }, nullptr);
            }
        }
    }
    return sweeps;
}

/// It may be interrupted in between, and then there is one more.
TEST(Turns, HaveOneSweepHoweverManyAreAskedFor)
{
    std::array<std::atomic<Time>, 200> many{};
    constexpr std::size_t turns = 100;
    const std::size_t sweeps = sweeps_of(many, turns);
    EXPECT_GE(sweeps, turns);
    EXPECT_LE(sweeps, 10 * turns);
}

TEST(Turns, OfOneAreAllItsPolls)
{
    std::array<std::atomic<Time>, 1> alone{};
    EXPECT_GE(sweeps_of(alone, 1000), 999U);
}

/// The first of the others is not asked for any more.
TEST(Turns, BeginWithWhateverComesAgain)
{
    std::array<std::atomic<Time>, 1> once{};
    std::array<std::atomic<Time>, 2> others{};
    sweeps_of(once, 1);
    EXPECT_GE(sweeps_of(others, 1000), 999U);
}

TEST(Turns, BeginAnewAfterOtherThings)
{
    std::array<std::atomic<Time>, 3> asked{};
    for (std::atomic<Time>& one : asked) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        EXPECT_TRUE(Waiter::begins_turn(one));
    }
}

/// What the thread's sweep looks at; a plain function has no context.
Numbers* swept = nullptr;
bool sweep() noexcept { return take_number(swept); }

TEST(ProgressThread, SweepsWhatTheNetworkBringsUntilItIsStopped)
{
    Doorbell bell;
    Waiter waiter(bell);
    Numbers numbers;
    swept = &numbers;
    waiter.listen_to(numbers.network());
    ProgressThread thread;
    for (std::uint64_t life = 1; life <= 3; ++life) {
        ASSERT_TRUE(thread.start(waiter, {.sweep = sweep}));
        ASSERT_TRUE(thread.start(waiter, {.sweep = sweep})); // it runs already
        numbers.send();
        const auto start = Clock::now();
        while (numbers.taken() < life && Clock::now() - start < for_ever) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_EQ(numbers.taken(), life);
        thread.stop();
        thread.stop();
    }
    numbers.send();
    EXPECT_EQ(numbers.taken(), 3U);
}

} // namespace
} // namespace sidelight::unit
