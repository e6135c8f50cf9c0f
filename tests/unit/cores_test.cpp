// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/cores.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include "unit/files.hpp"

namespace sidelight::host::node {
namespace {

/// A file that names groups, and their folders.
class CoreQuotas : public testing::Test {
protected:
    [[nodiscard]] CoreQuota quota(const std::string& groups) const
    {
        return core_quota({files_.write("cgroup", groups).c_str(), files_.root() + "/fs"});
    }
    [[nodiscard]] std::uint64_t inode(const std::string& folder) const
    {
        struct stat status {};
        EXPECT_EQ(stat((files_.root() + "/fs/" + folder).c_str(), &status), 0);
        return status.st_ino;
    }

    unit::Files files_;
};

TEST_F(CoreQuotas, AreNoneWithoutFilesOrNumbers)
{
    EXPECT_EQ(core_quota({"/none/cgroup", "/none"}).cores, INT_MAX);
    EXPECT_EQ(quota("").cores, INT_MAX);
    EXPECT_EQ(quota("0::/job\n").cores, INT_MAX);
    EXPECT_EQ(quota("what is this").cores, INT_MAX);
    files_.write("fs/job/cpu.max", "max 100000\n");
    EXPECT_EQ(quota("0::/job\n").cores, INT_MAX);
    files_.write("fs/job/cpu.max", "");
    EXPECT_EQ(quota("0::/job\n").cores, INT_MAX);
    files_.write("fs/cpu/job/cpu.cfs_quota_us", "-1\n");
    files_.write("fs/cpu/job/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota("1:cpu:/job\n").cores, INT_MAX);
}

TEST_F(CoreQuotas, AreTheLeastOfAGroupAndThoseAboveIt)
{
    files_.write("fs/job/cpu.max", "200000 100000\n");
    files_.write("fs/job/step/cpu.max", "max 100000\n");
    files_.write("fs/job/step/task/cpu.max", "810000 100000\n");
    EXPECT_EQ(quota("0::/job/step/task\n").cores, 2);
    EXPECT_EQ(quota("0::/job/step/task\n").group, inode("job"));
    EXPECT_EQ(quota("0::/job/other\n").group, inode("job"));
    EXPECT_EQ(quota("0::/elsewhere\n").cores, INT_MAX);
    files_.write("fs/cpu.max", "50000 100000\n"); // a container's, which is where its files begin
    EXPECT_EQ(quota("0::/\n").cores, 1);
    EXPECT_EQ(quota("0::/../host\n").cores, 1);
}

TEST_F(CoreQuotas, AreRoundedUp)
{
    files_.write("fs/cpu.max", "200001 100000\n");
    EXPECT_EQ(quota("0::/\n").cores, 3);
    files_.write("fs/cpu.max", "1000 100000\n");
    EXPECT_EQ(quota("0::/\n").cores, 1);
    files_.write("fs/cpu.max", "9000000000000000000 1\n");
    EXPECT_EQ(quota("0::/\n").cores, INT_MAX);
}

TEST_F(CoreQuotas, OfTheFirstVersionAreFoundByTheirController)
{
    files_.write("fs/cpu/a:b/cpu.cfs_quota_us", "150000\n");
    files_.write("fs/cpu/a:b/cpu.cfs_period_us", "50000\n");
    EXPECT_EQ(quota("2:cpuset:/x\n1:cpu,cpuacct:/a:b\n0::/\n").cores, 3);
    EXPECT_EQ(quota("3:cpuset,cpu:/a:b/c\n").group, inode("cpu/a:b"));
    EXPECT_EQ(quota("2:cpuset:/a:b\n1:cpuacct:/a:b\n").cores, INT_MAX);
}

TEST(Cores, AreSomeOnAnySystem) { EXPECT_GE(available_cores(), 1); }

} // namespace
} // namespace sidelight::host::node
