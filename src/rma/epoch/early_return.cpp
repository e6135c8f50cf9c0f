// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/early_return.hpp"

#include "rma/early_return_rules.hpp"

namespace sidelight::rma {

namespace {

/// Neighbours in the order of issue that send the same, as to all targets of an epoch, share it.
bool same_data(const Op& op, const Op& before, const datatype::Buffer& buffer_before) noexcept
{
    return op.operation.kind == before.operation.kind &&
           op.operation.layout->basic == before.operation.layout->basic &&
           same_buffer(op.operation.origin, buffer_before);
}

/// The recorded operations of an epoch, each with the one before it whose data are the same.
/// `visit` answers whether to go on, and so does this.
template <class Visit>
bool for_each_recorded(Epoch& epoch, Visit visit) noexcept
{
    const Op* before = nullptr;
    datatype::Buffer buffer_before{};
    for (PeerEpoch& peer : epoch.peers) {
        for (Op* op = peer.recorded.front(); op != nullptr; op = op->next) {
            // To keep it may be the end of its datatype: `buffer_before` is only compared.
            const datatype::Buffer buffer = op->operation.origin;
            const bool has_data = buffer.layout != nullptr && buffer.bytes() != 0;
            const bool same = before != nullptr && same_data(*op, *before, buffer_before);
            if (!visit(*op, same ? before : nullptr)) {
                return false;
            }
            if (has_data) {
                before = op;
                buffer_before = buffer;
            }
        }
    }
    return true;
}

/// Whether all that is left of it waits for grants. What has begun ends by itself, soon.
bool waits_for_grants(const Epoch& epoch) noexcept
{
    for (const PeerEpoch& peer : epoch.peers) {
        if (peer.granted && !peer.done) {
            return false;
        }
    }
    return true;
}

bool may_be_kept(const Op& op) noexcept
{
    return rules::may_be_kept(returned_to(op.operation) != nullptr,
                              op.operation.kind == OperationKind::active_message);
}

std::size_t record_bytes(const Epoch& epoch) noexcept
{
    return sizeof(Epoch) + epoch.peers.size() * sizeof(PeerEpoch);
}

} // namespace

void EarlyEpochs::add(Epoch& epoch) noexcept
{
    const bool first = epochs_.empty();
    epoch.early_at = ++returned_;
    ++size_;
    epochs_.push(&epoch);
    if (first) {
        tell(true);
    }
}

void EarlyEpochs::remove(Epoch& epoch) noexcept
{
    epochs_.remove(&epoch);
    --size_;
    if (epochs_.empty()) {
        tell(false);
    }
}

void EarlyEpochs::observe(EarlyObserver& window) noexcept
{
    windows_.push(&window);
    if (any()) {
        window.any_early(true);
    }
}

void EarlyEpochs::tell(bool any) noexcept
{
    EarlyObserver* window = windows_.front();
    for (; window != nullptr; window = decltype(windows_)::after(*window)) {
        window->any_early(any);
    }
}

/// Where memory runs out in between, those that have their data apart keep them so.
bool EarlyReturn::keep(Epoch& epoch) noexcept
{
    std::size_t record = record_bytes(epoch);
    const bool others_finish =
        has_finisher() || (with_.early.all_but_one() && with_.offers.would_finish(epoch));
    if (!rules::may_return_early(others_finish, free_bytes(), record) || !waits_for_grants(epoch)) {
        return false; // the operations are gone through only where it may come to something
    }
    std::size_t data = 0;
    const bool can_be = for_each_recorded(epoch, [&](const Op& op, const Op* like) {
        record += kept_overhead;
        const bool is_new = !is_kept(op) && like == nullptr;
        data += is_new ? kept_bytes(op.operation) : 0;
        return may_be_kept(op);
    });
    if (!can_be) {
        epoch.early = Early::no;
        return false;
    }
    epoch.kept = record;
    return rules::may_return_early(others_finish, free_bytes(), record + data) &&
           for_each_recorded(epoch, [&](Op& op, const Op* like) {
               return is_kept(op) || keep_data(with_.early.room(), op, like);
           });
}

void EarlyReturn::let_return(Epoch& epoch) noexcept
{
    epoch.early = Early::returned;
    with_.early.room().used += epoch.kept;
    with_.early.add(epoch);
    ++pending_;
}

void EarlyReturn::complete(Epoch& epoch, Status failure) noexcept
{
    with_.early.room().used -= epoch.kept;
    with_.early.remove(epoch);
    --pending_;
    if (failure != Status::ok && !failed()) {
        failure_.store(failure, std::memory_order_relaxed);
    }
}

} // namespace sidelight::rma
