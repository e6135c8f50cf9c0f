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

void Mapped::expect_threads(bool sweeps, bool many) noexcept
{
    regions_direct_ = !sweeps && !many;
    never_fenced_ = many || !rmw_is_barrier;
    unfenced_.store(true, relaxed);
    accumulates_->set_many_threads(many);
    slot_ = accumulates_->only_slot();
}

} // namespace sidelight::rma
