// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory_limit.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "unit/files.hpp"
#include "unit/processes.hpp"

namespace sidelight::host {
namespace {

constexpr std::size_t few = std::size_t{1} << 20;
constexpr std::size_t many = std::size_t{256} << 20;

std::size_t private_bytes()
{
    std::ifstream sizes("/proc/self/statm");
    std::size_t pages = 0;
    for (int field = 1; field <= 6; ++field) {
        sizes >> pages;
    }
    return pages * page_size();
}

/// Lets this process see another mode, and have half of `many` more of private memory. False: it
/// may not do that.
bool pretend(const std::string& mode, const unit::Files& files)
{
    const rlimit private_memory{private_bytes() + many / 2, RLIM_INFINITY};
    return unshare(CLONE_NEWNS) == 0 &&
           mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount(files.write("mode", mode).c_str(), "/proc/sys/vm/overcommit_memory", nullptr,
                 MS_BIND, nullptr) == 0 &&
           setrlimit(RLIMIT_DATA, &private_memory) == 0;
}

class Reservations : public testing::Test {
protected:
    void SetUp() override
    {
        if (!unit::went_well(unit::start_process([&] { return pretend("0", files_); }))) {
            GTEST_SKIP() << "it takes the right to mount";
        }
    }

    const unit::Files files_;
};

TEST_F(Reservations, AreRefusedWhereTheKernelHandsOutNoMoreThanThereIs)
{
    EXPECT_TRUE(unit::went_well(unit::start_process([&] {
        if (!pretend("2", files_)) {
            return false;
        }
        Reservation most(many * 2 / 5);
        const bool refused = !Reservation(many / 5).is_granted() && Reservation(0).is_granted();
        const bool granted = most.is_granted();
        most.give_up();
        return granted && refused && Reservation(many / 5).is_granted();
    })));
}

TEST_F(Reservations, TakeNothingWhereItHandsOutMore)
{
    EXPECT_TRUE(unit::went_well(unit::start_process([&] {
        return pretend("0", files_) && Reservation(few).is_granted() &&
               Reservation(many).is_granted();
    })));
}

} // namespace
} // namespace sidelight::host
