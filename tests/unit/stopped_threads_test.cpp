// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/stopped_threads.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/signals.hpp"
#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

using host::SignalsBlocked;
using host::memory::StoppedThreads;
using namespace std::chrono_literals;

class StoppedThreadsTest : public testing::Test {
protected:
    void SetUp() override
    {
        const SignalsBlocked blocked;
        if (!StoppedThreads::stop()) {
            GTEST_SKIP() << "threads cannot be stopped here: " << std::strerror(errno);
        }
    }
};

/// Threads that count as fast as they can.
class Counters {
public:
    explicit Counters(std::size_t threads) : counts_(threads)
    {
        for (auto& count : counts_) {
            threads_.emplace_back([&] {
                while (!stop_.load(std::memory_order_relaxed)) {
                    count.fetch_add(1, std::memory_order_relaxed);
                }
            });
        }
    }
    ~Counters()
    {
        stop_ = true;
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }
    [[nodiscard]] std::uint64_t sum() const
    {
        std::uint64_t all = 0;
        for (const auto& count : counts_) {
            all += count.load(std::memory_order_relaxed);
        }
        return all;
    }

private:
    std::vector<std::atomic<std::uint64_t>> counts_;
    std::vector<std::thread> threads_;
    std::atomic<bool> stop_{false};
};

TEST_F(StoppedThreadsTest, StandStillAndGoOn)
{
    const Counters counters(5);
    for (int round = 0; round < 50; ++round) {
        const SignalsBlocked blocked;
        StoppedThreads stopped = StoppedThreads::stop();
        ASSERT_TRUE(stopped) << std::strerror(errno);
        const std::uint64_t before = counters.sum();
        usleep(500);
        EXPECT_EQ(counters.sum(), before);
        errno = EDOM;
        stopped.resume();
        EXPECT_EQ(errno, EDOM);
        while (counters.sum() == before) {
            std::this_thread::yield();
        }
    }
}

TEST_F(StoppedThreadsTest, AreFoundWhileTheyComeAndGo)
{
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> lives{0};
    std::vector<std::thread> parents;
    for (int parent = 0; parent < 3; ++parent) {
        parents.emplace_back([&] {
            while (!stop) {
                std::thread([&] { ++lives; }).join();
            }
        });
    }
    for (int round = 0; round < 100; ++round) {
        const SignalsBlocked blocked;
        const StoppedThreads stopped = StoppedThreads::stop();
        ASSERT_TRUE(stopped) << std::strerror(errno);
        const std::uint64_t before = lives;
        usleep(100);
        EXPECT_EQ(lives, before);
    }
    stop = true;
    for (std::thread& parent : parents) {
        parent.join();
    }
}

TEST_F(StoppedThreadsTest, GoOnSleepingInTheirSystemCalls)
{
    const Channel channel;
    int got = 0;
    std::thread reader([&] { EXPECT_TRUE(channel.receive(got)); });
    std::thread sleeper([] {
        timespec left{.tv_sec = 0, .tv_nsec = 50'000'000};
        EXPECT_EQ(nanosleep(&left, nullptr), 0);
    });
    for (int round = 0; round < 20; ++round) {
        const SignalsBlocked blocked;
        EXPECT_TRUE(StoppedThreads::stop());
        usleep(1000);
    }
    EXPECT_TRUE(channel.send(42));
    reader.join();
    sleeper.join();
    EXPECT_EQ(got, 42);
}

std::atomic<int> handled{0};

/// A thread gets as many signals as are sent to it, which queue up, one after the other.
class SignalledThread {
public:
    explicit SignalledThread(int signals)
        : signals_(signals), target_([this] {
              while (!stop_) {
              }
          })
    {
        struct sigaction action {};
        action.sa_handler = [](int) { ++handled; };
        sigaction(signal_, &action, &before_);
        handled = 0;
        sender_ = std::thread([this] {
            for (int count = 0; count < signals_; ++count) {
                pthread_kill(target_.native_handle(), signal_);
                usleep(10);
            }
        });
    }
    SignalledThread(const SignalledThread&) = delete;
    SignalledThread& operator=(const SignalledThread&) = delete;
    ~SignalledThread()
    {
        sender_.join();
        for (int waited = 0; handled < signals_ && waited < 1000; ++waited) {
            usleep(1000);
        }
        stop_ = true;
        target_.join();
        sigaction(signal_, &before_, nullptr);
        EXPECT_EQ(handled, signals_);
    }

private:
    const int signal_ = SIGRTMIN + 3;
    const int signals_;
    struct sigaction before_ {};
    std::atomic<bool> stop_{false};
    std::thread target_;
    std::thread sender_;
};

/// A thread may be stopped on its way into a handler.
TEST_F(StoppedThreadsTest, LoseNoSignal)
{
    const SignalledThread thread(2000);
    for (int round = 0; round < 100; ++round) {
        const SignalsBlocked blocked;
        EXPECT_TRUE(StoppedThreads::stop());
    }
}

/// One that waits for the child of its vfork cannot be stopped; the others go on nevertheless.
TEST_F(StoppedThreadsTest, AreAllLetGoWhereOneDoesNotStop)
{
    std::atomic<bool> forks{false};
    std::thread waits([&] {
        forks = true;
        const pid_t child = vfork(); // NOLINT: this is what is tested
        if (child == 0) {
            usleep(2'000'000);
            _exit(0);
        }
        waitpid(child, nullptr, 0);
    });
    while (!forks) {
        std::this_thread::yield();
    }
    usleep(10'000);
    {
        const Counters counters(2);
        const SignalledThread signalled(5000);
        {
            const SignalsBlocked blocked;
            const StoppedThreads stopped = StoppedThreads::stop();
            EXPECT_FALSE(stopped);
            EXPECT_EQ(errno, ETIMEDOUT);
        }
        const std::uint64_t before = counters.sum();
        while (counters.sum() == before) {
            std::this_thread::yield();
        }
    }
    waits.join();
    const SignalsBlocked blocked;
    EXPECT_TRUE(StoppedThreads::stop());
}

/// Who is traced already cannot be traced once more.
TEST_F(StoppedThreadsTest, AreLeftToADebugger)
{
    const Channel to_parent;
    const Channel to_child;
    const pid_t child = start_process([&] {
        std::atomic<bool> stop{false};
        std::thread traced([&] {
            const auto id = static_cast<pid_t>(syscall(SYS_gettid));
            int word = 0;
            static_cast<void>(to_parent.send(id) && to_child.receive(word));
            while (!stop) {
                usleep(100);
            }
        });
        int word = 0;
        const bool started = to_child.receive(word);
        bool refused = false;
        {
            const SignalsBlocked blocked;
            refused = !StoppedThreads::stop() && errno == EPERM;
        }
        stop = true;
        traced.join();
        return started && refused;
    });
    pid_t thread = 0;
    ASSERT_TRUE(to_parent.receive(thread));
    ASSERT_EQ(ptrace(PTRACE_SEIZE, thread, nullptr, nullptr), 0);
    EXPECT_TRUE(to_child.send(1));
    EXPECT_TRUE(to_child.send(1));
    waitpid(thread, nullptr, __WALL);
    EXPECT_TRUE(went_well(child));
}

/// What it sends would be cut short, and it may not look.
TEST_F(StoppedThreadsTest, AreLeftAloneWhereOneSleepsInASend)
{
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    constexpr std::size_t bytes = std::size_t{4} << 20;
    std::vector<std::byte> data(bytes);
    ssize_t sent = 0;
    std::thread sender([&] { sent = send(ends[0], data.data(), bytes, 0); });
    usleep(50'000); // it is full
    for (int round = 0; round < 5; ++round) {
        const SignalsBlocked blocked;
        EXPECT_FALSE(StoppedThreads::stop());
        EXPECT_EQ(errno, EBUSY);
    }
    std::vector<std::byte> got(bytes);
    EXPECT_EQ(recv(ends[1], got.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
    sender.join();
    EXPECT_EQ(sent, static_cast<ssize_t>(bytes));
    close(ends[0]);
    close(ends[1]);
}

/// Its first thread stays in the list when it ends before the others.
TEST_F(StoppedThreadsTest, MayGoOnWithoutTheFirst)
{
    const pid_t child = start_process([] {
        static const pthread_t first = pthread_self();
        pthread_t other{};
        pthread_create(
            &other, nullptr,
            [](void*) -> void* {
                pthread_join(first, nullptr);
                const SignalsBlocked blocked;
                const auto begin = std::chrono::steady_clock::now();
                const bool good = static_cast<bool>(StoppedThreads::stop()) &&
                                  std::chrono::steady_clock::now() - begin < 500ms;
                _exit(good ? 0 : 1);
            },
            nullptr);
        syscall(SYS_exit, 0); // this thread alone, without unwinding it
        return false;
    });
    EXPECT_TRUE(went_well(child));
}

/// Numbers of processes mean others there.
TEST_F(StoppedThreadsTest, AreNotLookedForInAnotherNamespace)
{
    const pid_t child = start_process([] {
        const Counters counters(1);
        if (unshare(CLONE_NEWPID) != 0) {
            return true; // not allowed
        }
        const SignalsBlocked blocked;
        return !StoppedThreads::stop();
    });
    EXPECT_TRUE(went_well(child));
}

TEST_F(StoppedThreadsTest, LeaveNoProcessBehind)
{
    for (int round = 0; round < 10; ++round) {
        const SignalsBlocked blocked;
        EXPECT_TRUE(StoppedThreads::stop());
    }
    EXPECT_EQ(waitpid(-1, nullptr, __WALL | WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

} // namespace
} // namespace sidelight::unit
