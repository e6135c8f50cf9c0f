// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/offers.hpp"

#include <algorithm>
#include <utility>

#include "base/cpu.hpp"
#include "datatype/cursor.hpp"

namespace sidelight::rma {

using namespace offer_word;

namespace {

/// As it is offered.
std::uint64_t offered_word(const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    if (epoch.kind == EpochKind::fence) {
        return offer_word::pack(epoch.barriers.in, OfferKind::fence, OfferState::offered);
    }
    if (epoch.kind == EpochKind::access) {
        return offer_word::pack(peer.number, OfferKind::access, OfferState::offered);
    }
    const bool exclusive = epoch.lock_type == LockType::exclusive;
    return offer_word::pack(peer.place.ahead,
                            exclusive ? OfferKind::exclusive_lock : OfferKind::shared_lock,
                            OfferState::offered);
}

/// Whether the bytes of its elements lie side by side, in memory as where they are packed.
bool without_holes(datatype::Basic basic) noexcept
{
    const datatype::BasicShape shape = datatype::shape_of(basic);
    return shape.size != 0 && !shape.has_holes();
}

/// What is said by pieces: it returns nothing, or bytes whose order nobody sees.
bool is_simple(const Operation& operation) noexcept
{
    const bool combines = operation.kind == OperationKind::accumulate &&
                          operation.result.layout == nullptr &&
                          without_holes(operation.layout->basic);
    return (moves_bytes(operation) || combines) && !operation.ordered && !notifies(operation) &&
           operation.region == nullptr;
}

/// Adds the pieces of one operation. False: there is no room for them.
bool add(Offer& offer, const Op& op) noexcept
{
    const Operation& operation = op.operation;
    datatype::Cursor there(
        {reinterpret_cast<void*>(op.address), operation.layout, operation.count});
    datatype::Cursor here(operation.origin);
    for (; !there.at_end(); ++offer.count) {
        if (offer.count == Offer::most_pieces) {
            return false;
        }
        const std::size_t bytes = std::min(there.piece().length, here.piece().length);
        offer.pieces[offer.count] = {
            .origin = reinterpret_cast<std::uintptr_t>(here.piece().address),
            .target = reinterpret_cast<std::uintptr_t>(there.piece().address),
            .bytes = bytes,
            .rank = operation.target,
            .kind = operation.kind,
            .reduce = operation.reduce,
            .basic = operation.layout->basic};
        there.advance(bytes);
        here.advance(bytes);
    }
    return true;
}

} // namespace

bool Offers::may_make(const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    const int place = place_of(epoch, peer);
    Peer& target = with_.contacts.peer(place);
    if (!with_.allowed || peer.was_offered || peer.gates != 0 || with_.dynamic ||
        target.control == nullptr || target.offer != nullptr || // an earlier one: another sweep
        with_.contacts.target(place).lost) {
        return false;
    }
    switch (epoch.kind) {
    case EpochKind::access:
        return !peer.recorded.empty() && place != with_.contacts.rank() &&
               rules::offer_is_in_turn(peer.number, target.done);
    case EpochKind::fence:
        return epoch.barriers.out != 0 && with_.barrier.shape().one_node();
    case EpochKind::lock:
        return !epoch.no_check;
    case EpochKind::exposure:
    case EpochKind::lock_all:
        break;
    }
    return false;
}

bool Offers::is_made(const Epoch& epoch, const PeerEpoch& peer) const noexcept
{
    if (!peer.was_offered) [[likely]] {
        return false;
    }
    const Offer* offer = with_.contacts.peer(place_of(epoch, peer)).offer;
    return offer != nullptr && offer->word == offered_word(epoch, peer);
}

bool Offers::is_performed(const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    return is_made(epoch, peer) &&
           rules::offer_is_over(
               state_of(word_in(place_of(epoch, peer)).offer.load(std::memory_order_relaxed)));
}

/// What this process takes back in another of its calls, since the target has granted it, it must
/// perform at once: in memory that is mapped. The targets take what is theirs only if nothing else
/// of this process keeps them from coming so far (EarlyEpochs::all_but_one). A target that the
/// kernel does not let it read would hardly be let read this one.
bool Offers::would_finish(const Epoch& epoch) noexcept
{
    if (!with_.allowed || !epoch.active() || with_.room.program_has_threads) {
        return false;
    }
    Offer unused;
    return std::all_of(epoch.peers.begin(), epoch.peers.end(), [&](const PeerEpoch& peer) {
        return peer.done || is_made(epoch, peer) ||
               (may_make(epoch, peer) && with_.contacts.target(peer.rank).mapped &&
                write(unused, epoch, peer) && with_.contacts.process_memory(peer.rank) != nullptr);
    });
}

/// Who performs an access is its target. The memory of others has to be mapped, as it is with all
/// on the node if with one.
bool Offers::write(Offer& offer, const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    offer.window = with_.contacts.window();
    offer.word = offered_word(epoch, peer);
    offer.origin = with_.contacts.rank();
    offer.count = 0;
    offer.looks = 0;
    for (const Op* op = peer.recorded.front(); op != nullptr; op = op->next) {
        const int rank = op->operation.target;
        const bool within_reach = epoch.kind == EpochKind::access || rank == offer.origin ||
                                  with_.contacts.target(rank).mapped;
        if (!within_reach || !is_simple(op->operation) || !add(offer, *op)) {
            return false;
        }
    }
    return offer.bytes() <= Offer::most_bytes && offer.operand_bytes() <= Offer::most_operands;
}

bool Offers::make(const Epoch& epoch, PeerEpoch& peer, bool returns) noexcept
{
    if (!rules::may_offer(returns, with_.room.others_finish(with_.calls_for_events)) ||
        !may_make(epoch, peer)) {
        return false;
    }
    const int place = place_of(epoch, peer);
    OfferWord& word = word_in(place);
    peer.was_offered = true;
    Offer* offer = with_.pool.take();
    if (offer == nullptr) {
        return false;
    }
    if (!write(*offer, epoch, peer)) {
        with_.pool.give_back(offer);
        return false;
    }
    with_.contacts.peer(place).offer = offer;
    word.at.store(reinterpret_cast<std::uintptr_t>(offer), std::memory_order_relaxed);
    // Releases the offer and the data; pairs with the exchange in `take`.
    word.offer.store(offer->word, std::memory_order_release);
    // Who grants it from now on finds it before it sleeps; what was granted before is seen behind
    // this.
    full_barrier();
    return true;
}

Offers::Mine Offers::take_back(const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    if (!is_made(epoch, peer)) [[likely]] {
        return Mine::to_perform;
    }
    const int place = place_of(epoch, peer);
    const std::uint64_t mine = offered_word(epoch, peer);
    std::uint64_t found = mine;
    OfferWord& word = word_in(place);
    // Acquire: what was done by who was first; pairs with the release in `announce`.
    const auto give_up = [&] {
        return word.offer.compare_exchange_strong(found, with_state(mine, OfferState::none),
                                                  std::memory_order_acq_rel,
                                                  std::memory_order_acquire);
    };
    const OfferState state = give_up() ? OfferState::none : state_of(found);
    if (rules::offer_is_over(state)) {
        word.offer.store(with_state(mine, OfferState::none), std::memory_order_relaxed);
        end(place);
        return Mine::performed;
    }
    if (rules::may_perform_offered(state)) {
        end(place);
        return Mine::to_perform;
    }
    // Whoever dies at it says nothing any more, and nothing else may tell of that. It may have said
    // it before: one of the two has the word. Who is lost and alive is still at the buffers.
    constexpr unsigned looks_at_once = 16;
    const int at_it = with_.contacts.neighbours()[number_of(found)];
    if (++with_.contacts.peer(place).offer->looks % looks_at_once != 0 ||
        !with_.contacts.lose_if_ended(at_it) || !give_up()) {
        return Mine::elsewhere;
    }
    end(place);
    return Mine::lost;
}

void Offers::end(int place) noexcept
{
    with_.pool.give_back(std::exchange(with_.contacts.peer(place).offer, nullptr));
}

} // namespace sidelight::rma
