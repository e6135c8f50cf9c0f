// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/engine_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace sidelight::unit {
namespace {

using runtime::EngineLock;
using namespace std::chrono_literals;

bool refuse() noexcept { return false; }

/// What the lock guards: plain numbers that are equal whenever nobody is inside.
struct Guarded {
    std::uint64_t first = 0;
    std::uint64_t second = 0;

    /// Answers whether nobody else was there.
    bool visit() noexcept
    {
        const bool alone = first == second;
        ++first;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        ++second;
        return alone;
    }
};

/// A thread of the program and a helper that enter again and again, until the helper has been in so
/// often. Answers how often somebody met another inside.
std::uint64_t hammer(EngineLock& lock, Guarded& guarded, int helper_visits)
{
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> meetings{0};
    std::thread helper([&] {
        for (int visit = 0; visit < helper_visits; ++visit) {
            if (!lock.acquire_as_helper()) {
                ++meetings;
                break;
            }
            meetings += guarded.visit() ? 0 : 1;
            lock.release_as_helper();
            if (visit % 3 == 0) {
                lock.watch();
            }
        }
        over = true;
    });
    for (std::uint64_t visit = 0; !over; ++visit) {
        if (visit % 4 != 0) {
            lock.acquire();
        } else if (!lock.try_acquire()) {
            continue;
        }
        meetings += guarded.visit() ? 0 : 1;
        lock.release();
    }
    helper.join();
    return meetings;
}

/// A thread of the program that comes once, and says when it is inside.
std::thread come_once(EngineLock& lock, std::atomic<bool>& inside)
{
    return std::thread([&lock, &inside] {
        lock.acquire();
        inside = true;
        lock.release();
    });
}

/// Whether a thread of this process sleeps in the kernel.
bool is_asleep(pid_t thread)
{
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    const std::string state(std::istreambuf_iterator<char>(file), {});
    return state.find(") S ") != std::string::npos;
}

class EngineLockTest : public testing::Test {
protected:
    EngineLockTest() { allowed_ = allow_own_heavy_barriers(); }
    bool allowed_ = false;
};

TEST_F(EngineLockTest, HelperAndProgramNeverMeet)
{
    if (!allowed_) {
        GTEST_SKIP() << "no membarrier here";
    }
    EngineLock lock;
    Guarded guarded;
    EXPECT_EQ(hammer(lock, guarded, 3000), 0U);
    EXPECT_EQ(guarded.first, guarded.second);
}

TEST_F(EngineLockTest, TheOneLockWhereThereIsNoBarrier)
{
    EngineLock lock(refuse);
    lock.share();
    Guarded guarded;
    EXPECT_EQ(hammer(lock, guarded, 30000), 0U);
    EXPECT_EQ(guarded.first, guarded.second);
}

/// Two threads of the program, which only the one lock can keep apart.
TEST_F(EngineLockTest, ThreadsOfTheProgramNeverMeet)
{
    EngineLock lock;
    lock.share();
    Guarded guarded;
    std::atomic<std::uint64_t> meetings{0};
    const auto work = [&] {
        for (int visit = 0; visit < 100'000; ++visit) {
            lock.acquire();
            meetings += guarded.visit() ? 0 : 1;
            lock.release();
        }
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_EQ(meetings, 0U);
    EXPECT_EQ(guarded.first, 200'000U);
}

/// A session with threads begins while the one thread that had the right goes in and out.
TEST_F(EngineLockTest, SharedBesideTheProgramNobodyMeets)
{
    if (!allowed_) {
        GTEST_SKIP() << "no membarrier here";
    }
    for (int round = 0; round < 200; ++round) {
        EngineLock lock;
        Guarded guarded;
        std::atomic<std::uint64_t> meetings{0};
        std::atomic<bool> over{false};
        std::atomic<bool> started{false};
        const auto visit_by = [&](bool by_trying) {
            if (!by_trying) {
                lock.acquire();
            } else if (!lock.try_acquire()) {
                return;
            }
            meetings += guarded.visit() ? 0 : 1;
            lock.release();
        };
        std::thread first([&] {
            for (unsigned visit = 0; !over; ++visit) {
                visit_by(visit % 4 == 0);
                started = true;
            }
        });
        while (!started) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(lock.share_beside([&] { meetings += guarded.visit() ? 0 : 1; }));
        EXPECT_TRUE(lock.shared());
        for (unsigned visit = 0; visit < 500; ++visit) {
            visit_by(visit % 4 == 0);
        }
        over = true;
        first.join();
        EXPECT_EQ(meetings, 0U);
    }
}

TEST_F(EngineLockTest, NotSharedBesideTheProgramWithoutABarrier)
{
    EngineLock lock(refuse);
    EXPECT_FALSE(lock.share_beside([] {}));
    EXPECT_FALSE(lock.shared());
    lock.acquire();
    lock.release();
}

/// The kernel may begin to refuse, where a program locks itself in.
TEST_F(EngineLockTest, HelperWithoutABarrierStaysOut)
{
    EngineLock lock(refuse);
    EXPECT_FALSE(lock.acquire_as_helper());
    EXPECT_TRUE(lock.try_acquire());
    EXPECT_FALSE(lock.acquire_as_helper());
    lock.release();
    lock.acquire();
    lock.release();
}

TEST_F(EngineLockTest, TheHolderIsRefused)
{
    EngineLock lock;
    lock.acquire();
    EXPECT_FALSE(lock.try_acquire());
    lock.release();
    EXPECT_TRUE(lock.try_acquire());
    lock.release();
}

TEST_F(EngineLockTest, ProgramIsKeptOutWhileAHelperIsInside)
{
    if (!allowed_) {
        GTEST_SKIP() << "no membarrier here";
    }
    EngineLock lock;
    ASSERT_TRUE(lock.acquire_as_helper());
    EXPECT_FALSE(lock.try_acquire());
    std::atomic<bool> inside{false};
    std::thread program = come_once(lock, inside);
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(inside);
    lock.release_as_helper();
    program.join();
    EXPECT_TRUE(inside);
}

/// It sleeps, and takes longer to wake up than a helper to come back.
TEST_F(EngineLockTest, ProgramThatHadToWaitIsNext)
{
    EngineLock lock([]() noexcept { return true; }); // only one of the two may be running here
    ASSERT_TRUE(lock.acquire_as_helper());
    std::atomic<bool> inside{false};
    std::atomic<pid_t> number{0};
    std::thread program([&] {
        number = gettid();
        lock.acquire();
        inside = true;
        lock.release();
    });
    while (number == 0 || !is_asleep(number)) {
        std::this_thread::sleep_for(1ms);
    }
    int turns = 0;
    for (constexpr int most_turns = 500; turns < most_turns && !inside; ++turns) {
        lock.release_as_helper();
        EXPECT_TRUE(lock.is_visited());
        ASSERT_TRUE(lock.acquire_as_helper());
    }
    EXPECT_TRUE(inside) << "after " << turns << " turns of the helper";
    lock.release_as_helper();
    program.join();
}

TEST_F(EngineLockTest, HelperWaitsForTheProgramToLeave)
{
    if (!allowed_) {
        GTEST_SKIP() << "no membarrier here";
    }
    EngineLock lock;
    lock.acquire();
    std::atomic<bool> inside{false};
    std::thread helper([&] {
        inside = lock.acquire_as_helper();
        lock.release_as_helper();
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(inside);
    lock.release();
    helper.join();
    EXPECT_TRUE(inside);
}

/// Signals end sleeps in the kernel: whoever is woken by one has to wait on. `enter` waits until
/// `leave` is called.
template <typename Enter, typename Leave>
void expect_kept_out_among_signals(Enter enter, Leave leave)
{
    struct sigaction ignore = {};
    struct sigaction before = {};
    ignore.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(SIGUSR1, &ignore, &before), 0);
    std::atomic<bool> inside{false};
    std::thread sleeper([&] {
        enter();
        inside = true;
    });
    for (int signals = 0; signals < 50; ++signals) {
        pthread_kill(sleeper.native_handle(), SIGUSR1);
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_FALSE(inside);
    leave();
    sleeper.join();
    EXPECT_TRUE(inside);
    EXPECT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST_F(EngineLockTest, SignalsLetNoThreadIntoTheOneLock)
{
    EngineLock lock;
    lock.share();
    lock.acquire();
    expect_kept_out_among_signals([&] { lock.acquire(); }, [&] { lock.release(); });
    lock.release();
}

TEST_F(EngineLockTest, SignalsLetNeitherSideIn)
{
    if (!allowed_) {
        GTEST_SKIP() << "no membarrier here";
    }
    EngineLock lock;
    ASSERT_TRUE(lock.acquire_as_helper());
    expect_kept_out_among_signals([&] { lock.acquire(); }, [&] { lock.release_as_helper(); });
    expect_kept_out_among_signals([&] { EXPECT_TRUE(lock.acquire_as_helper()); },
                                  [&] { lock.release(); });
    lock.release_as_helper();
}

TEST_F(EngineLockTest, AWatcherSeesTheProgramComeBy)
{
    EngineLock lock;
    lock.watch();
    EXPECT_FALSE(lock.is_visited());
    lock.acquire();
    EXPECT_TRUE(lock.is_visited());
    lock.release();
    lock.watch();
    EXPECT_FALSE(lock.is_visited());
    EXPECT_TRUE(lock.try_acquire());
    EXPECT_TRUE(lock.is_visited());
    lock.release();
    lock.share();
    EXPECT_FALSE(lock.is_visited());
}

} // namespace
} // namespace sidelight::unit
