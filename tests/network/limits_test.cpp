// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>

#include <sys/resource.h>

#include "fabric/ucx/transports.hpp"
#include "network/traffic.hpp"

/// A network is not begun with few files or addresses: UCX ends some processes that run out of
/// them. Where it does not start as it likes, it is tried without the files of its shared memory.
namespace sidelight::network_tests {
namespace {

bool opens()
{
    fabric::PeerNumbers numbers(1);
    return fabric::open_network(numbers, {}) != nullptr;
}

bool opens_with(int resource, rlim_t limit)
{
    rlimit before{};
    getrlimit(static_cast<__rlimit_resource_t>(resource), &before);
    rlimit few = before;
    few.rlim_cur = limit;
    setrlimit(static_cast<__rlimit_resource_t>(resource), &few);
    const bool open = opens();
    setrlimit(static_cast<__rlimit_resource_t>(resource), &before);
    return open;
}

TEST(Limits, FewFilesAreNoNetwork)
{
    EXPECT_FALSE(opens_with(RLIMIT_NOFILE, 30));
    EXPECT_TRUE(opens());
}

TEST(Limits, FewAddressesAreNoNetwork)
{
    EXPECT_FALSE(opens_with(RLIMIT_AS, 1 << 20)); // less than there is already
    EXPECT_TRUE(opens());
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
