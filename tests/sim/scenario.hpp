// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>

#include <gtest/gtest.h>

#include "draft.hpp"
#include "world.hpp"

/// What the programs written by hand have in common.
namespace sidelight::sim {

using enum Mode;
using rma::FlushScope;
using rma::LockType;

/// The parameter: members of a node. 1: messages alone; 2: both; 64: mapped alone.
class Scenarios : public testing::TestWithParam<int> {
protected:
    [[nodiscard]] static Draft draft(int ranks)
    {
        Draft draft(ranks, GetParam() < ranks ? GetParam() : ranks);
        draft.program().progress_percent = 0; // only blocking calls sweep
        return draft;
    }
};

/// Runs it under several orders of events, and lets `then` look at each run.
inline void run(const Program& program, const std::function<void(World&)>& then = {})
{
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Program seeded = program;
        seeded.seed = seed;
        World world(seeded);
        if (!world.run()) {
            world.report(stderr);
            FAIL() << world.failure();
        }
        if (then) {
            then(world);
        }
    }
}

} // namespace sidelight::sim
