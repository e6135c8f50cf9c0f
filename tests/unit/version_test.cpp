// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "host/mpi/version.hpp"

namespace sidelight::host::mpi {
namespace {

TEST(Version, OfWhatHostsAnswer)
{
    EXPECT_EQ(version_in("MPICH Version:      4.2.3\nMPICH Release date: Wed Oct 2\n"),
              (Version{Family::mpich, 4, 2}));
    EXPECT_EQ(version_in("MPICH Version:\t5.0a1\n"), (Version{Family::mpich, 5, 0}));
    EXPECT_EQ(version_in("Open MPI v4.1.8, package: Open MPI conda@b0 Distribution, ident: 4.1.8"),
              (Version{Family::open_mpi, 4, 1}));
    EXPECT_EQ(version_in("Intel(R) MPI Library 2021.18 for Linux* OS\n"),
              (Version{Family::intel, 2021, 18}));
    EXPECT_EQ(version_in("MVAPICH2 Version      :\t2.3.7\n"), Version{});
    EXPECT_EQ(version_in(""), Version{});
}

TEST(Version, LinesAreToldApart)
{
    const Version one = version_of(Family::mpich, "4.1.3");
    EXPECT_EQ(one, version_of(Family::mpich, "4.1"));
    EXPECT_NE(one, version_of(Family::mpich, "4.2.3"));
    EXPECT_NE(one, version_of(Family::open_mpi, "4.1.3"));
    EXPECT_EQ(version_of(Family::mpich, "none"), Version{});
    EXPECT_EQ(name_of(one), "MPICH 4.1");
}

} // namespace
} // namespace sidelight::host::mpi
