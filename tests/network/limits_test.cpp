// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>

#include <sys/resource.h>

#include "fabric/joined/joined_fabric.hpp"
#include "fabric/ucx/transports.hpp"
#include "network/traffic.hpp"
#include "unit/processes.hpp"

/// A network is not begun with few files or addresses: UCX ends some processes that run out of
/// them. Where it does not start as it likes, it is tried without the files of its shared memory.
namespace sidelight::network_tests {
namespace {

bool opens()
{
    fabric::PeerNumbers numbers(1);
    return fabric::open_network(numbers, {}) != nullptr;
}

template <typename Open>
bool opens_with(int resource, rlim_t limit, Open open)
{
    rlimit before{};
    getrlimit(static_cast<__rlimit_resource_t>(resource), &before);
    rlimit few = before;
    few.rlim_cur = limit;
    setrlimit(static_cast<__rlimit_resource_t>(resource), &few);
    const bool opened = open();
    setrlimit(static_cast<__rlimit_resource_t>(resource), &before);
    return opened;
}

struct Nobody final : fabric::Receiver {
    void receive(int, std::span<const std::byte>) noexcept override {}
    std::byte* place(int, std::span<const std::byte>, std::size_t) noexcept override
    {
        return nullptr;
    }
    void placed(int, std::span<const std::byte>, std::size_t) noexcept override {}
    void lost(int) noexcept override {}
};

TEST(Limits, FewFilesAreNoNetwork)
{
    EXPECT_FALSE(opens_with(RLIMIT_NOFILE, 30, opens));
    EXPECT_TRUE(opens());
}

TEST(Limits, FewAddressesAreNoNetwork)
{
    EXPECT_FALSE(opens_with(RLIMIT_AS, 1 << 20, opens)); // less than there is already
    EXPECT_TRUE(opens());
}

TEST(Limits, TheNetworkIsOpenedWhenALackHasPassed)
{
    EXPECT_TRUE(unit::went_well(unit::start_process([] {
        fabric::JoinedFabric joined({});
        const auto open = [&] { return joined.open_network(); };
        testing::internal::CaptureStderr();
        const bool with_few =
            opens_with(RLIMIT_NOFILE, 30, open) || opens_with(RLIMIT_NOFILE, 30, open);
        const std::string said = testing::internal::GetCapturedStderr();
        const std::size_t once = said.find("no network");
        return !with_few && once != std::string::npos &&
               said.find("no network", once + 1) == std::string::npos && open();
    })));
}

/// What does not pass by itself is not tried again, but for a program that starts MPI again.
TEST(Limits, ANetworkThatWasRefusedIsTriedAgainAfterTheEnd)
{
    EXPECT_TRUE(unit::went_well(unit::start_process([] {
        fabric::JoinedFabric joined({});
        Nobody nobody;
        setenv("UCX_TLS", "nothing", 1);
        const bool wrongly = joined.open_network();
        unsetenv("UCX_TLS");
        const bool again = joined.open_network();
        return !wrongly && !again && joined.close_network(nobody, std::chrono::seconds(2)) &&
               joined.open_network();
    })));
}

TEST(Limits, TheChoiceOfTheUserIsNotChanged)
{
    EXPECT_EQ(fabric::ucx::choices("tcp,posix").size(), 1U);
    setenv("UCX_TLS", "tcp,posix", 1);
    EXPECT_EQ(fabric::ucx::choices("auto").size(), 1U);
    unsetenv("UCX_TLS");
    EXPECT_EQ(fabric::ucx::choices("auto").size(), 2U);
}

} // namespace
} // namespace sidelight::network_tests
