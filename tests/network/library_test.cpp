// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>

#include "fabric/ucx/library.hpp"

/// Libraries that are no UCX, or none that can be used.
namespace sidelight::network_tests {
namespace {

/// A process of its own: each has one UCX, for good.
TEST(Library, SaysUnaskedWhyThereIsNone)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const auto& [library, why] :
         {std::pair{"libm.so.6",
                    "error: no network: UCX has no ucp_get_version, as 1.13 and later"},
          std::pair{"/nowhere", "error: cannot load UCX: /nowhere"}}) {
        EXPECT_EXIT(std::exit(fabric::ucx::Library::load(library) == nullptr ? 0 : 1),
                    testing::ExitedWithCode(0), why);
    }
}

} // namespace
} // namespace sidelight::network_tests
