// SPDX-License-Identifier: BSD-3-Clause
#include "handles.hpp"

#include <set>
#include <utility>

#include "draft.hpp"
#include "rma/engine/window_parts.hpp"

namespace sidelight::sim {

void draw_names(Program& program, fabric::sim::Random& random)
{
    if (!program.dynamic || !random.chance(60)) {
        return;
    }
    program.handles = true;
    for (Script& script : program.scripts) {
        std::set<std::pair<int, int>> open; ///< window and target, or all_targets
        for (Step& step : script) {
            const std::pair<int, int> here{step.window, step.target};
            const std::pair<int, int> all{step.window, rma::all_targets};
            if (step.call == Call::lock) {
                open.insert(here);
            } else if (step.call == Call::unlock) {
                open.erase(here);
            } else if (step.call == Call::lock_all) {
                open.insert(all);
            } else if (step.call == Call::unlock_all) {
                open.erase(all);
            } else if (is_operation(step.call) && (open.contains(here) || open.contains(all))) {
                step.named = random.chance(60);
            }
        }
    }
}

HandleWindows::One* HandleWindows::open(const Key& key, rma::Window& window,
                                        const rma::RegionShape& shape)
{
    const auto [found, is_new] = open_.try_emplace(key);
    if (is_new) {
        found->second = std::make_unique<One>();
        One& one = *found->second;
        if (window.look_up(shape.rank) == nullptr ||
            window.parts().regions.open(shape, one.direct, one.region) != Status::ok) {
            open_.erase(found);
            return nullptr;
        }
    }
    return found->second.get();
}

void HandleWindows::close(const Key& key)
{
    if (const auto found = open_.find(key); found != open_.end()) {
        rma::HandleRegions::drop(*found->second->region);
        open_.erase(found);
    }
}

void HandleWindows::close_all(int window)
{
    for (auto next = open_.begin(); next != open_.end();) {
        const auto found = next++;
        if (window < 0 || std::get<0>(found->first) == window) {
            rma::HandleRegions::drop(*found->second->region);
            open_.erase(found);
        }
    }
}

Program late_access(int node_size, bool direct, bool unmapped)
{
    Draft d(2, node_size);
    d.program().dynamic = true;
    d.program().handles = true;
    d.program().direct = direct;
    d.program().unmapped_percent = unmapped ? 100 : 0;
    d.program().progress_percent = 0;
    Author a = d.rank(0);
    a.lock(rma::LockType::shared, 1);
    a.await_grant(1);
    for (int put = 0; put < 3; ++put) {
        a.write(Call::put, 1, 1);
        a.make_named();
        a.flush(1, rma::FlushScope::remote, Mode::blocking);
    }
    a.meet();
    a.meet();
    a.stray(1);
    a.make_named();
    a.make_present();
    a.flush(1, rma::FlushScope::remote, Mode::blocking);
    a.unlock(1, Mode::blocking);
    Author b = d.rank(1);
    b.meet();
    b.release();
    b.meet();
    return d.finish();
}

} // namespace sidelight::sim
