// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/mapped.hpp"

namespace sidelight::rma {

void Mapped::begin(Target* targets, std::uint32_t members, Accumulates& accumulates) noexcept
{
    targets_ = targets;
    members_ = members;
    accumulates_ = &accumulates;
    slot_ = accumulates.only_slot();
}

/// It is asked for its slot at each access, for threads may come later.
void Mapped::begin_region(Target* targets, Accumulates& accumulates,
                          const HandleRegion& region) noexcept
{
    targets_ = targets;
    members_ = 0;
    accumulates_ = &accumulates;
    slot_ = nullptr;
    region_ = &region;
    expect_untold();
}

void Mapped::expect_threads(bool sweeps, bool many) noexcept
{
    regions_direct_ = !sweeps && !many;
    never_fenced_ = many || has_untold_ || !rmw_is_barrier;
    unfenced_.store(true, relaxed);
    accumulates_->set_many_threads(many);
    slot_ = accumulates_->only_slot();
}

void Mapped::close(Target& target) noexcept
{
    target.reach.store(0, std::memory_order_release);
    target.flushable.store(false, std::memory_order_release);
    if (target.regions != nullptr) {
        target.handle_regions(false);
    }
}

} // namespace sidelight::rma
