// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/kind_table.hpp"
#include "rma/rules.hpp"

/// Fence epochs: two barriers, of which the second is the next one's first. See
/// docs/design/fence.md.
namespace sidelight::rma {

namespace {

/// Who waits performs what others have recorded in the epochs that end with the barrier.
bool passes(const EpochSurroundings& with, std::uint64_t number) noexcept
{
    return with.barrier.passed(number) ||
           (with.others_offers.perform_fences(number) && with.barrier.passed(number));
}

void enter_fence(const EpochSurroundings& with, Epoch& epoch) noexcept
{
    with.barrier.arrive(epoch.barriers.in);
}

bool fence_granted(const EpochSurroundings& with, const Epoch& epoch,
                   const PeerEpoch& /*peer*/) noexcept
{
    return passes(with, epoch.barriers.in) || with.contacts.broken();
}

void fence_enters(const EpochSurroundings& with, Epoch& epoch, const PeerEpoch& /*peer*/) noexcept
{
    if (!with.barrier.passed(epoch.barriers.in)) {
        epoch.failure = Status::lost;
    }
}

bool finish_fence(const EpochSurroundings& with, Epoch& epoch, PeerEpoch& peer) noexcept
{
    if (!peer.granted) {
        return false;
    }
    if (peer.outstanding != 0) {
        with.credit.request_all();
        return false;
    }
    // Nobody arrives before what it has written is in place, unless it gives up: so what others
    // write here in a whole window may be of their next epoch, and is not waited for. Behind the
    // last one memory is freed: there nobody is believed.
    if (((with.contacts.broken() || epoch.last) && with.channels.placing()) ||
        (epoch.last && !rules::memory_is_free(with.channels.reading()))) {
        return false;
    }
    if (epoch.barriers.out == 0) {
        return true;
    }
    with.barrier.arrive(epoch.barriers.out);
    const bool passed = passes(with, epoch.barriers.out);
    if (!passed && with.contacts.broken()) {
        epoch.failure = Status::lost;
    }
    return passed || with.contacts.broken();
}

void fence_was_performed(const EpochSurroundings& with, Epoch& epoch, PeerEpoch& /*peer*/) noexcept
{
    with.barrier.note_arrival(epoch.barriers.out);
}

} // namespace

const EpochKindRow fence_epoch{.name = "fence",
                               .ordered_as = EpochClass::exclusive,
                               .passage = Passage::operations_to_all,
                               .enter = enter_fence,
                               .granted = fence_granted,
                               .enters = fence_enters,
                               .finish = finish_fence,
                               .performed = fence_was_performed};

} // namespace sidelight::rma
