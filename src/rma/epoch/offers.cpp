// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/offers.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/cpu.hpp"
#include "datatype/basic_layout.hpp"
#include "datatype/cursor.hpp"
#include "rma/region/own_memory.hpp"

namespace sidelight::rma {

using fabric::AccessPiece;
using fabric::RemoteMemory;
using rules::OfferState;

namespace {

constexpr unsigned state_bits = 2;

constexpr std::uint64_t word_of(std::uint64_t number, OfferState state) noexcept
{
    return number << state_bits | static_cast<std::uint64_t>(state);
}

constexpr OfferState state_of(std::uint64_t word) noexcept
{
    return static_cast<OfferState>(word & ((1U << state_bits) - 1));
}

constexpr std::uint64_t number_of(std::uint64_t word) noexcept { return word >> state_bits; }

/// Whether the bytes of its elements lie side by side, in memory as where they are packed.
bool without_holes(datatype::Basic basic) noexcept
{
    const datatype::BasicShape shape = datatype::shape_of(basic);
    return shape.size != 0 && shape.size == shape.extent;
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
            .kind = operation.kind,
            .reduce = operation.reduce,
            .basic = operation.layout->basic};
        there.advance(bytes);
        here.advance(bytes);
    }
    return true;
}

/// The pieces of an offer that go one way.
class Pieces {
public:
    void add(const AccessPiece& piece) noexcept { pieces_[count_++] = piece; }
    [[nodiscard]] std::span<const AccessPiece> all() const noexcept
    {
        return std::span(pieces_).first(count_);
    }

private:
    std::array<AccessPiece, Offer::most_pieces> pieces_;
    std::size_t count_ = 0;
};

using Transfer = fabric::Access (RemoteMemory::*)(std::span<const AccessPiece>,
                                                  fabric::Completion&) noexcept;

bool move(RemoteMemory& memory, Transfer transfer, std::span<const AccessPiece> pieces) noexcept
{
    fabric::Completion unused;
    return pieces.empty() || (memory.*transfer)(pieces, unused) == fabric::Access::complete;
}

/// Room for what is accumulated by a piece, so that the next one is aligned as well.
std::size_t operand_room(const OfferedPiece& piece) noexcept
{
    constexpr std::size_t widest = 16;
    const std::size_t bytes = std::min<std::size_t>(piece.bytes, Offer::most_operands + 1);
    return piece.kind == OperationKind::accumulate ? (bytes + widest - 1) / widest * widest : 0;
}

std::size_t data_bytes(const OfferedPiece& piece) noexcept
{
    return std::min<std::size_t>(piece.bytes, Offer::most_bytes + 1);
}

/// Of all pieces of an offer.
std::size_t sum(const Offer& offer, std::size_t (*bytes_of)(const OfferedPiece&) noexcept) noexcept
{
    std::size_t bytes = 0;
    for (const OfferedPiece& piece : std::span(offer.pieces).first(offer.count)) {
        bytes += bytes_of(piece);
    }
    return bytes;
}

} // namespace

bool Offers::may_make(const PeerEpoch& peer) noexcept
{
    return allowed_ && !peer.was_offered && !peer.recorded.empty() && peer.gates == 0 &&
           !with_.dynamic && !with_.contacts.target(peer.rank).lost &&
           peer.rank != with_.contacts.rank() &&
           with_.contacts.peer(peer.rank).control != nullptr &&
           with_.contacts.peer(peer.rank).offer == nullptr && // an earlier access: another sweep
           rules::offer_is_in_turn(peer.number, with_.contacts.peer(peer.rank).done);
}

bool Offers::is_made(const PeerEpoch& peer) const noexcept
{
    const Offer* offer = with_.contacts.peer(peer.rank).offer;
    return peer.was_offered && offer != nullptr && offer->number == peer.number;
}

/// What this process takes back in another of its calls, since the target has granted it, it must
/// perform at once: in memory that is mapped. The targets take what is theirs only if nothing else
/// of this process keeps them from coming so far (EarlyEpochs::all_but_one). A target that the
/// kernel does not let it read would hardly be let read this one.
bool Offers::would_finish(const Epoch& epoch) noexcept
{
    if (!allowed_ || !epoch.active() || with_.room.program_has_threads) {
        return false;
    }
    Offer unused;
    return std::all_of(epoch.peers.begin(), epoch.peers.end(), [&](const PeerEpoch& peer) {
        return peer.done || is_made(peer) ||
               (may_make(peer) && with_.contacts.target(peer.rank).mapped && write(unused, peer) &&
                with_.contacts.process_memory(peer.rank) != nullptr);
    });
}

bool Offers::write(Offer& offer, const PeerEpoch& peer) noexcept
{
    offer.window = with_.contacts.window();
    offer.number = peer.number;
    offer.origin = with_.contacts.rank();
    offer.count = 0;
    for (const Op* op = peer.recorded.front(); op != nullptr; op = op->next) {
        if (!is_simple(op->operation) || !add(offer, *op)) {
            return false;
        }
    }
    return sum(offer, data_bytes) <= Offer::most_bytes &&
           sum(offer, operand_room) <= Offer::most_operands;
}

bool Offers::make(PeerEpoch& peer, bool returns) noexcept
{
    if (!rules::may_offer(returns, with_.room.others_finish(calls_)) || !may_make(peer)) {
        return false;
    }
    OfferWord& word = offered(peer.rank, with_.contacts.rank());
    Peer& target = with_.contacts.peer(peer.rank);
    peer.was_offered = true;
    Offer* offer = with_.pool.take();
    if (offer == nullptr) {
        return false;
    }
    if (!write(*offer, peer)) {
        with_.pool.give_back(offer);
        return false;
    }
    target.offer = offer;
    word.at.store(reinterpret_cast<std::uintptr_t>(offer), std::memory_order_relaxed);
    // Releases the offer and the data; pairs with the exchange in `perform`.
    word.offer.store(word_of(peer.number, OfferState::offered), std::memory_order_release);
    // A target that posts from now on finds it before it sleeps; of one that has posted before the
    // grant is seen behind this.
    full_barrier();
    return true;
}

Offers::Mine Offers::take_back(const PeerEpoch& peer) noexcept
{
    if (!peer.was_offered) [[likely]] {
        return Mine::to_perform;
    }
    const Offer* offer = with_.contacts.peer(peer.rank).offer;
    if (offer == nullptr || offer->number != peer.number) {
        return Mine::to_perform;
    }
    std::uint64_t found = word_of(peer.number, OfferState::offered);
    OfferWord& word = offered(peer.rank, with_.contacts.rank());
    // Acquire: what the target has done, if it was first; pairs with the release in `perform`.
    const bool mine =
        word.offer.compare_exchange_strong(found, word_of(peer.number, OfferState::none),
                                           std::memory_order_acq_rel, std::memory_order_acquire);
    const OfferState state = mine ? OfferState::none : state_of(found);
    if (rules::offer_is_over(state)) {
        word.offer.store(word_of(peer.number, OfferState::none), std::memory_order_relaxed);
        end(peer);
        return Mine::performed;
    }
    // Whoever dies at it says nothing any more, and nothing else may tell of that.
    constexpr unsigned looks_at_once = 16;
    if (!rules::may_perform_offered(state) && ++looks_ % looks_at_once == 0) {
        with_.contacts.lose_if_ended(peer.rank);
    }
    if (rules::may_perform_offered(state) || with_.contacts.target(peer.rank).lost) {
        end(peer);
        return Mine::to_perform;
    }
    return Mine::elsewhere;
}

void Offers::end(const PeerEpoch& peer) noexcept
{
    with_.pool.give_back(std::exchange(with_.contacts.peer(peer.rank).offer, nullptr));
}

/// Everything of the origin's is read by the kernel, which fails if that process is gone.
bool Offers::perform(std::uint64_t at, std::uint64_t number, int origin,
                     RemoteMemory& memory) noexcept
{
    Offer offer;
    const AccessPiece all{
        .here = reinterpret_cast<std::byte*>(&offer), .there = at, .bytes = sizeof offer};
    return move(memory, &RemoteMemory::get, {&all, 1}) && offer.window == with_.contacts.window() &&
           offer.number == number && offer.origin == origin && offer.count <= Offer::most_pieces &&
           carry_out(offer, memory);
}

/// What is done to the window again if the origin has to do it all itself does no harm; so what is
/// accumulated comes last, when nothing can fail any more.
bool Offers::carry_out(const Offer& offer, RemoteMemory& memory) noexcept
{
    const std::size_t all = sum(offer, operand_room);
    if (all > Offer::most_operands) {
        return false;
    }
    const std::unique_ptr<std::byte[]> operands(new (std::nothrow) std::byte[all]);
    if (operands == nullptr) {
        return false;
    }
    Pieces read;
    Pieces written;
    std::byte* operand = operands.get();
    for (const OfferedPiece& piece : std::span(offer.pieces).first(offer.count)) {
        std::byte* here = with_.memory.find(piece.target, piece.bytes);
        if (here == nullptr) {
            return false;
        }
        const bool combines = piece.kind == OperationKind::accumulate;
        Pieces& pieces = piece.kind == OperationKind::get ? written : read;
        pieces.add(
            {.here = combines ? operand : here, .there = piece.origin, .bytes = piece.bytes});
        operand += operand_room(piece);
    }
    if (!move(memory, &RemoteMemory::get, read.all()) ||
        !move(memory, &RemoteMemory::put, written.all())) {
        return false;
    }
    combine(offer, operands.get());
    return true;
}

/// In the order of issue, which MPI keeps. The origin has found that the operation takes the type.
void Offers::combine(const Offer& offer, std::byte* operands) noexcept
{
    for (const OfferedPiece& piece : std::span(offer.pieces).first(offer.count)) {
        if (piece.kind == OperationKind::accumulate) {
            const datatype::Layout& layout = datatype::basic_layout(piece.basic);
            const std::size_t elements = piece.bytes / layout.size;
            static_cast<void>(with_.accumulates.accumulate(
                piece.reduce, with_.own, {operands, &layout, elements}, {},
                {with_.memory.find(piece.target, piece.bytes), &layout, elements}));
            operands += operand_room(piece);
        }
    }
}

bool Offers::perform(int origin, std::uint64_t exposure) noexcept
{
    const int here = with_.contacts.rank();
    if (!allowed_ || with_.contacts.peer(origin).control == nullptr ||
        with_.contacts.target(origin).lost) {
        return false;
    }
    OfferWord& word = offered(here, origin);
    std::atomic<std::uint64_t>& done = with_.contacts.peer(here).control->notices(origin).done;
    if (state_of(word.offer.load(std::memory_order_relaxed)) != OfferState::offered) {
        return false;
    }
    RemoteMemory* memory = with_.contacts.process_memory(origin); // it may be another by now
    std::uint64_t found = word.offer.load(std::memory_order_relaxed);
    const std::uint64_t number = number_of(found);
    // Acquire: what was offered; pairs with the release in `make`.
    if (memory == nullptr || state_of(found) != OfferState::offered ||
        !rules::may_take_offer(number, done.load(std::memory_order_relaxed), exposure) ||
        !word.offer.compare_exchange_strong(found, word_of(number, OfferState::taken),
                                            std::memory_order_acquire, std::memory_order_relaxed)) {
        return false;
    }
    const bool whole = perform(word.at.load(std::memory_order_relaxed), number, origin, *memory);
    if (whole) {
        done.store(number, std::memory_order_release); // as the origin would
    }
    const OfferState state = whole ? OfferState::performed : OfferState::none;
    with_.contacts.publish(origin, word.offer, word_of(number, state),
                           notice_event(with_.contacts, rules::EventClass::grant, number));
    return whole;
}

} // namespace sidelight::rma
