// SPDX-License-Identifier: BSD-3-Clause
#include "host/library_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace sidelight::host {
namespace {

/// A thread that does nothing until the test is over.
class IdleThread {
public:
    ~IdleThread()
    {
        over_ = true;
        over_.notify_all();
        thread_.join();
    }

private:
    std::atomic<bool> over_{false};
    std::thread thread_{[this] { over_.wait(false); }};
};

/// The kernel takes its time with those that have ended.
bool program_is_alone_soon()
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (!program_is_alone() && std::chrono::steady_clock::now() < end) {
    }
    return program_is_alone();
}

class LibraryThreadsTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (!program_is_alone_soon()) {
            GTEST_SKIP() << "the sanitizer has started a thread";
        }
    }
};

TEST_F(LibraryThreadsTest, AreThoseThatStartMeanwhile)
{
    std::optional<IdleThread> first;
    std::optional<IdleThread> inner;
    std::optional<IdleThread> second;
    {
        const LibraryThreads of_the_host;
        first.emplace();
        const LibraryThreads of_ours;
        inner.emplace();
    }
    EXPECT_TRUE(program_is_alone());
    {
        const LibraryThreads of_the_network;
        second.emplace();
    }
    EXPECT_TRUE(program_is_alone());
    const IdleThread of_the_program;
    EXPECT_FALSE(program_is_alone());
}

/// One thread is in MPI_Session_init, say, while another starts a third.
TEST_F(LibraryThreadsTest, AreNotThoseThatTheProgramStartsBeside)
{
    std::atomic<int> step{0};
    std::thread in_the_host([&] {
        const LibraryThreads of_the_host;
        step = 1;
        step.notify_all();
        step.wait(1);
    });
    step.wait(0);
    const IdleThread of_the_program;
    step = 2;
    step.notify_all();
    in_the_host.join();
    EXPECT_FALSE(program_is_alone_soon());
}

} // namespace
} // namespace sidelight::host
