// SPDX-License-Identifier: BSD-3-Clause
#include "base/system_limits.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include <sys/resource.h>

#include "fabric/mapped/mapped_fabric.hpp"
#include "unit/open_files.hpp"

namespace sidelight {
namespace {

using unit::FileLimit;

TEST(SystemLimits, SaysWhatMendsAnError)
{
    EXPECT_NE(std::string(reason_of(EMFILE).c_str()).find("ulimit -n"), std::string::npos);
    EXPECT_NE(std::string(reason_of(EFBIG).c_str()).find("ulimit -f"), std::string::npos);
    EXPECT_NE(std::string(reason_of(ENOMEM).c_str()).find("ulimit -v"), std::string::npos);
    EXPECT_NE(std::string(reason_of(EPERM).c_str()).find("memfd_create"), std::string::npos);
    EXPECT_EQ(std::string(reason_of(EINTR).c_str()).find('('), std::string::npos);
}

TEST(SystemLimits, CountsTheFilesThatAreLeft)
{
    const FileLimit limit(100);
    EXPECT_FALSE(lack_of_files(32));
    const ReasonText lack = lack_of_files(100); // some are open
    ASSERT_TRUE(lack);
    EXPECT_NE(std::string(lack.c_str()).find("100 of ulimit -n"), std::string::npos);
}

TEST(SystemLimits, SaysWhereAddressesAreFew)
{
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    EXPECT_FALSE(lack_of_addresses(std::size_t{64} << 20));
    rlimit now = before;
    now.rlim_cur = 1 << 20; // less than there is already
    setrlimit(RLIMIT_AS, &now);
    const ReasonText lack = lack_of_addresses(std::size_t{64} << 20);
    setrlimit(RLIMIT_AS, &before);
    ASSERT_TRUE(lack);
    EXPECT_NE(std::string(lack.c_str()).find("ulimit -v"), std::string::npos);
}

TEST(SystemLimits, ADoorbellDoesNotTakeTheLastFiles)
{
    const FileLimit limit(8);
    EXPECT_THROW(fabric::MappedFabric(), std::runtime_error);
}

} // namespace
} // namespace sidelight
