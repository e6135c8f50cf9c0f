// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "fabric/ucx/library.hpp"

namespace sidelight::network_tests {
namespace {

using fabric::ucx::Library;

template <unsigned minor>
void answer(unsigned* major, unsigned* answered, unsigned* release)
{
    *major = 1;
    *answered = minor;
    *release = 1;
}

TEST(TransportSettings, HaveTheNamesOfTheirUcx)
{
    Library ucx{};
    ucx.get_version = &answer<16>;
    EXPECT_EQ(ucx.transport_setting("TCP", "TX_SEG_SIZE"), "TX_SEG_SIZE");
    ucx.get_version = &answer<17>;
    EXPECT_EQ(ucx.transport_setting("TCP", "TX_SEG_SIZE"), "TCP_TX_SEG_SIZE");
    ucx.get_version = &answer<20>;
    EXPECT_EQ(ucx.transport_setting("TCP", "TX_SEG_SIZE"), "TCP_TX_SEG_SIZE");
}

} // namespace
} // namespace sidelight::network_tests
