// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <sys/resource.h>

#include "network/traffic.hpp"

/// A network is not begun with few files: UCX ends some processes that run out of them.
namespace sidelight::network_tests {
namespace {

TEST(FewFiles, NoNetwork)
{
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit few = before;
    few.rlim_cur = 30;
    setrlimit(RLIMIT_NOFILE, &few);
    fabric::PeerNumbers numbers(1);
    EXPECT_EQ(fabric::open_network(numbers, {}), nullptr);
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_NE(fabric::open_network(numbers, {}), nullptr);
}

} // namespace
} // namespace sidelight::network_tests
