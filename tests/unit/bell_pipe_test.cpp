// SPDX-License-Identifier: BSD-3-Clause
#include "base/bell_pipe.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include <unistd.h>

#include "unit/open_files.hpp"
#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

/// Nobody sleeps that long unless nothing woke him.
constexpr seconds for_ever{120};
constexpr int nothing_else = -1;

/// How long one sleep took.
Clock::duration sleep_once(const BellPipe& pipe, int descriptor = nothing_else,
                           std::chrono::nanoseconds limit = for_ever)
{
    const auto start = Clock::now();
    pipe.sleep(descriptor, limit);
    return Clock::now() - start;
}

TEST(BellPipe, IsHeardInItsOwnProcessOnce)
{
    const BellPipe pipe = BellPipe::create();
    ASSERT_TRUE(pipe);
    ring_pipe(pipe.address());
    ring_pipe(pipe.address());
    EXPECT_LT(sleep_once(pipe), for_ever);
    constexpr std::chrono::milliseconds limit{2};
    EXPECT_GE(sleep_once(pipe, nothing_else, limit), limit);
}

TEST(BellPipe, WakesForADescriptor)
{
    const BellPipe pipe = BellPipe::create();
    const Channel channel;
    ASSERT_TRUE(channel.send(1));
    EXPECT_LT(sleep_once(pipe, channel.reading_end()), for_ever);
    int sent = 0;
    EXPECT_TRUE(channel.receive(sent)); // it was only looked at
}

TEST(BellPipeProcesses, RingsAreHeardFromAnother)
{
    const BellPipe pipe = BellPipe::create();
    const MemoryFileAddress address = pipe.address();
    constexpr int times = 50;
    const Channel turns;
    const pid_t child = start_process([&] {
        int turn = 0;
        while (turn < times && turns.receive(turn)) {
            ring_pipe(address);
        }
        return turn == times;
    });
    for (int turn = 1; turn <= times; ++turn) {
        ASSERT_TRUE(turns.send(turn));
        EXPECT_LT(sleep_once(pipe), for_ever);
    }
    EXPECT_TRUE(went_well(child));
}

/// Rings at the pipe of a process, which is gone on return.
MemoryFileAddress ring_pipe_of_another()
{
    const Channel channel;
    const Channel leave;
    const pid_t owner = start_process([&] {
        const BellPipe pipe = BellPipe::create();
        int word = 0;
        return channel.send(pipe.address()) && leave.receive(word);
    });
    MemoryFileAddress address;
    EXPECT_TRUE(channel.receive(address));
    ring_pipe(address);
    EXPECT_TRUE(leave.send(1));
    EXPECT_TRUE(went_well(owner));
    return address;
}

/// A ring for a process that is gone, or for a pipe that it has closed, is no signal and no error.
TEST(BellPipeProcesses, NobodyThere)
{
    ring_pipe(ring_pipe_of_another());

    MemoryFileAddress closed = BellPipe::create().address();
    ring_pipe(closed);
    closed.inode += 1;
    ring_pipe(closed);
}

/// The program has closed all descriptors that it does not know, and opened its own.
TEST(BellPipe, LeavesAFileInItsPlaceAlone)
{
    const int reading = next_descriptor();
    BellPipe pipe = BellPipe::create();
    ASSERT_TRUE(pipe);
    const PipeInItsPlace of_program(reading);
    EXPECT_LT(sleep_once(pipe), for_ever);
    pipe = BellPipe();
    EXPECT_TRUE(of_program.is_untouched());
}

/// Pipes of processes that have ended are closed, sooner or later.
TEST(BellPipeProcesses, FewStayOpen)
{
    const int before = next_descriptor();
    for (int process = 0; process < 20; ++process) {
        ring_pipe(ring_pipe_of_another());
    }
    EXPECT_LE(next_descriptor(), before + 2);
}

/// What could not be opened for want of descriptors is opened by a later ring.
TEST(BellPipe, RingsOnceThereAreDescriptorsAgain)
{
    constexpr seconds long_enough{10};
    const BellPipe pipe = BellPipe::create();
    {
        const FileLimit none(static_cast<rlim_t>(next_descriptor()));
        ring_pipe(pipe.address());
    }
    ring_pipe(pipe.address());
    EXPECT_LT(sleep_once(pipe, nothing_else, long_enough), long_enough);
}

/// The program has closed what was rung through, and opened its own.
TEST(BellPipe, RingsThroughAnotherDescriptorThen)
{
    constexpr seconds long_enough{5};
    const BellPipe pipe = BellPipe::create();
    ring_pipe(BellPipe::create().address()); // closes those of processes that have ended
    const int writing = next_descriptor();
    ring_pipe(pipe.address());
    EXPECT_LT(sleep_once(pipe, nothing_else, long_enough), long_enough);
    const PipeInItsPlace of_program(writing);
    ring_pipe(pipe.address());
    EXPECT_LT(sleep_once(pipe, nothing_else, long_enough), long_enough);
    EXPECT_TRUE(of_program.is_untouched());
}

/// Rings that nobody listens to fill the pipe and are no obstacle.
TEST(BellPipe, MayBeFull)
{
    const BellPipe pipe = BellPipe::create();
    constexpr int more_than_it_holds = 70'000;
    for (int ring = 0; ring < more_than_it_holds; ++ring) {
        ring_pipe(pipe.address());
    }
    EXPECT_LT(sleep_once(pipe), for_ever);
}

} // namespace
} // namespace sidelight::unit
