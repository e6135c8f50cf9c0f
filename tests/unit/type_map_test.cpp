// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "unit/type_map.hpp"

namespace sidelight::unit {
namespace {

struct Census {
    int empty = 0;
    int contiguous = 0;
    int mixed = 0;
    int several_runs = 0;
    int repeated = 0;
    int several_groups = 0;
    int backwards = 0;
    int overlapping = 0;
    int large = 0;
};

void count(Census& census, const Type& type)
{
    const datatype::Layout& layout = *type.layout;
    census.empty += layout.size == 0;
    census.contiguous += layout.contiguous;
    census.mixed += layout.size > 0 && layout.basic == datatype::Basic::none;
    census.several_runs += layout.runs.size() > 2;
    census.repeated += layout.groups.size() == 1 && layout.groups.front().repeats > 1;
    census.several_groups += layout.groups.size() > 1;
    census.backwards += layout.extent < 0;
    census.overlapping += type.map.overlaps();
    census.large += layout.size > 500;
}

/// The other tests are worth what the random types are worth.
TEST(RandomTypes, AreOfEveryShape)
{
    Census census;
    for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
        Random random(seed);
        count(census, draw_type(random, datatype::Basic::none));
    }
    for (const int found :
         {census.empty, census.contiguous, census.mixed, census.several_runs, census.repeated,
          census.several_groups, census.backwards, census.overlapping, census.large}) {
        EXPECT_GE(found, 100);
    }
}

} // namespace
} // namespace sidelight::unit
