// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <pthread.h>

#include "host/allocated/allocated_memory.hpp"
#include "host/memory/shareable.hpp"
#include "unit/processes.hpp"

/// Handlers of fork that the program has registered before it has any memory of ours.
namespace sidelight::unit {
namespace {

using host::allocated::AllocatedMemory;
using host::memory::share;

/// What the handlers do; null in the other tests of this process.
struct Handled {
    std::byte* to_free = nullptr;  ///< before fork
    std::byte* to_store = nullptr; ///< in the child
    bool shares = false;           ///< before fork
};
Handled handled;

void before_fork()
{
    if (handled.to_free != nullptr) {
        AllocatedMemory::of_process().free(handled.to_free);
    }
    if (handled.shares) {
        const auto shared = share(&handled, sizeof handled, SharePolicy::automatic);
    }
}

void in_child()
{
    if (handled.to_store != nullptr) {
        *handled.to_store = std::byte{2};
    }
}

/// A child, with these handlers. What waits for itself before there is one is ended.
void fork_with(const Handled& what)
{
    handled = what;
    alarm(5);
    EXPECT_TRUE(went_well(start_process([] { return true; })));
    alarm(0);
    handled = {};
}

TEST(ForkHandlers, UseMemoryThatIsHandedOut)
{
    ASSERT_EQ(pthread_atfork(before_fork, nullptr, in_child), 0);
    AllocatedMemory& memory = AllocatedMemory::of_process();
    const auto allocate = [&] { return static_cast<std::byte*>(memory.allocate(100, 64, false)); };
    std::byte* block = allocate();
    ASSERT_NE(block, nullptr);
    *block = std::byte{1};
    fork_with({.to_store = block});
    EXPECT_EQ(*block, std::byte{1});
    fork_with({.to_free = block});
    EXPECT_EQ(memory.free(block), AllocatedMemory::Freed::not_a_block);
}

/// A process that forks before it has any: one that is started anew, as this one may have some.
TEST(ForkHandlersDeathTest, LeaveAChildWithMemoryOfItsOwn)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(_exit(went_well(start_process([] {
                    AllocatedMemory& memory = AllocatedMemory::of_process();
                    void* block = memory.allocate(100, 64, false);
                    return block != nullptr && memory.free(block) == AllocatedMemory::Freed::yes;
                }))
                          ? 0
                          : 1),
                testing::ExitedWithCode(0), "");
}

/// In a process of its own: what looks at pages keeps a file open.
TEST(ForkHandlers, UseMemoryThatIsReplaced)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Mapping pages = Mapping::anonymous(page_size());
        const bool is_registered = pthread_atfork(before_fork, nullptr, in_child) == 0;
        *pages.data() = std::byte{1};
        const auto shared = share(pages.data(), pages.bytes(), SharePolicy::in_place);
        if (!shared) {
            return true; // as under a sanitizer
        }
        fork_with({.to_store = pages.data()});
        const bool good = is_registered && *pages.data() == std::byte{1};
        fork_with({.shares = true});
        return good;
    })));
}

} // namespace
} // namespace sidelight::unit
