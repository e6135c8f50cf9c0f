// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "fabric/sim/random.hpp"
#include "rma/operation/handle_regions.hpp"
#include "script.hpp"

/// Memory handles: which operations of a program go by them, and what a rank has opened.
namespace sidelight::sim {

/// Lets some of the operations in epochs of the passive target go by handles.
void draw_names(Program& program, fabric::sim::Random& random);

/// The regions of a member: of one that was released before the run, in whose place the next one
/// has come, and of that.
struct MemberRegions {
    rma::RegionName past = rma::no_region;
    rma::RegionName present = rma::no_region;
};

/// The windows of handles that one rank has, by window, target, and whether it is one that was
/// released before the run.
class HandleWindows {
public:
    struct One {
        rma::Mapped direct;
        rma::HandleRegion* region = nullptr;
    };
    using Key = std::tuple<int, int, bool>;
    ~HandleWindows() { close_all(); }

    /// Opens it at the first call. Null: it cannot be opened.
    One* open(const Key& key, rma::Window& window, const rma::RegionShape& shape);
    void close(const Key& key);
    /// Those of one window, or of all: -1.
    void close_all(int window = -1);

private:
    std::map<Key, std::unique_ptr<One>> open_;
};

/// Rank 0 uses a region of rank 1 until that releases it, and afterwards; whether its first use is
/// `recorded`, and the late one is by the direct path, the program says.
[[nodiscard]] Program late_access(int node_size, bool direct, bool unmapped);

} // namespace sidelight::sim
