// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/offers.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/bytes.hpp"
#include "base/cpu.hpp"
#include "datatype/basic_layout.hpp"
#include "datatype/cursor.hpp"
#include "rma/region/own_memory.hpp"

namespace sidelight::rma {

using fabric::AccessPiece;
using fabric::RemoteMemory;
using rules::OfferKind;
using rules::OfferState;

namespace {

/// A word: what becomes of it, what it is, and its number or, while it is taken, the number on the
/// node of the member that has.
constexpr unsigned state_bits = 2;
constexpr unsigned kind_bits = 2;
constexpr std::uint64_t numbers = ~std::uint64_t{0} >> (state_bits + kind_bits);

/// Of a sum of places the lowest bits do: two that are compared differ by little.
constexpr std::uint64_t word_of(std::uint64_t number, OfferKind kind, OfferState state) noexcept
{
    return (number << kind_bits | static_cast<std::uint64_t>(kind)) << state_bits |
           static_cast<std::uint64_t>(state);
}

constexpr OfferState state_of(std::uint64_t word) noexcept
{
    return static_cast<OfferState>(word & ((1U << state_bits) - 1));
}

constexpr OfferKind kind_of(std::uint64_t word) noexcept
{
    return static_cast<OfferKind>(word >> state_bits & ((1U << kind_bits) - 1));
}

constexpr std::uint64_t number_of(std::uint64_t word) noexcept
{
    return word >> (state_bits + kind_bits);
}

constexpr LockType lock_type_of(OfferKind kind) noexcept
{
    return kind == OfferKind::shared_lock ? LockType::shared : LockType::exclusive;
}

constexpr std::uint64_t with_state(std::uint64_t word, OfferState state) noexcept
{
    return word_of(number_of(word), kind_of(word), state);
}

/// As it is offered.
std::uint64_t word_of(const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    if (epoch.kind == EpochKind::fence) {
        return word_of(epoch.barriers.in, OfferKind::fence, OfferState::offered);
    }
    if (epoch.kind == EpochKind::access) {
        return word_of(peer.number, OfferKind::access, OfferState::offered);
    }
    const bool exclusive = epoch.lock_type == LockType::exclusive;
    return word_of(peer.place.ahead, exclusive ? OfferKind::exclusive_lock : OfferKind::shared_lock,
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
    return piece.kind == OperationKind::accumulate ? round_up(bytes, widest) : 0;
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
    return offer != nullptr && offer->word == word_of(epoch, peer);
}

bool Offers::is_performed(const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    return is_made(epoch, peer) &&
           rules::offer_is_over(state_of(offered(place_of(epoch, peer), with_.contacts.rank())
                                             .offer.load(std::memory_order_relaxed)));
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
    offer.word = word_of(epoch, peer);
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
    return sum(offer, data_bytes) <= Offer::most_bytes &&
           sum(offer, operand_room) <= Offer::most_operands;
}

bool Offers::make(const Epoch& epoch, PeerEpoch& peer, bool returns) noexcept
{
    if (!rules::may_offer(returns, with_.room.others_finish(with_.calls_for_events)) ||
        !may_make(epoch, peer)) {
        return false;
    }
    const int place = place_of(epoch, peer);
    OfferWord& word = offered(place, with_.contacts.rank());
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
    const std::uint64_t mine = word_of(epoch, peer);
    std::uint64_t found = mine;
    OfferWord& word = offered(place, with_.contacts.rank());
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

/// Everything of the origin's is read by the kernel, which fails if that process is gone.
bool Offers::perform(std::uint64_t at, std::uint64_t word, int origin,
                     RemoteMemory& memory) noexcept
{
    Offer offer;
    const AccessPiece all{
        .here = reinterpret_cast<std::byte*>(&offer), .there = at, .bytes = sizeof offer};
    if (!move(memory, &RemoteMemory::get, {&all, 1}) || offer.window != with_.contacts.window() ||
        offer.word != word || offer.origin != origin || offer.count > Offer::most_pieces) {
        return false;
    }
    bytes_left_ -= std::min(bytes_left_, sum(offer, data_bytes));
    return carry_out(offer, memory);
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
        std::byte* here = memory_of(piece);
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

/// Null: it cannot be reached.
std::byte* Offers::memory_of(const OfferedPiece& piece) noexcept
{
    if (piece.rank == with_.contacts.rank()) {
        return with_.memory.find(piece.target, piece.bytes);
    }
    if (!with_.contacts.is_rank(piece.rank) || with_.contacts.reach(piece.rank) != Status::ok) {
        return nullptr;
    }
    const Target& target = with_.contacts.target(piece.rank);
    const bool inside = piece.target <= target.size && piece.bytes <= target.size - piece.target;
    return target.mapped && inside ? target.base + piece.target : nullptr;
}

/// In the order of issue, which MPI keeps. The origin has found that the operation takes the type.
void Offers::combine(const Offer& offer, std::byte* operands) noexcept
{
    for (const OfferedPiece& piece : std::span(offer.pieces).first(offer.count)) {
        if (piece.kind == OperationKind::accumulate) {
            const datatype::Layout& layout = datatype::basic_layout(piece.basic);
            const std::size_t elements = piece.bytes / layout.size;
            static_cast<void>(with_.accumulates.accumulate(
                piece.reduce, accumulate_target(with_.contacts.target(piece.rank), piece.rank),
                {operands, &layout, elements}, {}, {memory_of(piece), &layout, elements}));
            operands += operand_room(piece);
        }
    }
}

template <class May>
bool Offers::take(int place, int origin, May may) noexcept
{
    if (bytes_left_ == 0 || with_.contacts.target(origin).lost) {
        return false;
    }
    OfferWord& word = offered(place, origin);
    if (state_of(word.offer.load(std::memory_order_relaxed)) != OfferState::offered) {
        return false;
    }
    RemoteMemory* memory = with_.contacts.process_memory(origin); // it may be another by now
    std::uint64_t found = word.offer.load(std::memory_order_relaxed);
    const std::uint64_t mine =
        word_of(with_.contacts.peer(with_.contacts.rank()).here, kind_of(found), OfferState::taken);
    // Acquire: what was offered; pairs with the release in `make`.
    if (memory == nullptr || state_of(found) != OfferState::offered || !may(found) ||
        !word.offer.compare_exchange_strong(found, mine, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
        return false;
    }
    const bool whole = perform(word.at.load(std::memory_order_relaxed), found, origin, *memory);
    const OfferState state = whole ? OfferState::performed : OfferState::none;
    if (!announce(place, origin, mine, with_state(found, state)) || !whole) {
        return false;
    }
    follow(place, found);
    has_performed_ = true;
    return true;
}

/// What the origin would have said of an access is said before it may see that it is performed.
/// False: the origin has given up what was taken, as if this process had ended.
bool Offers::announce(int place, int origin, std::uint64_t taken, std::uint64_t word) noexcept
{
    if (kind_of(word) == OfferKind::access && state_of(word) == OfferState::performed) {
        with_.contacts.peer(place).control->notices(origin).done.store(number_of(word),
                                                                       std::memory_order_release);
    }
    // Releases what was done; pairs with the acquire in `take_back`.
    if (!offered(place, origin)
             .offer.compare_exchange_strong(taken, word, std::memory_order_seq_cst,
                                            std::memory_order_relaxed)) {
        return false;
    }
    with_.contacts.wake(origin, event_of(place, word));
    return true;
}

/// What a thread of the origin's, if there is one by now, asks for.
Event Offers::event_of(int place, std::uint64_t word) const noexcept
{
    const std::uint64_t window = with_.contacts.window();
    switch (kind_of(word)) {
    case OfferKind::access:
        return notice_event(with_.contacts, rules::EventClass::grant, number_of(word));
    case OfferKind::fence:
        return rules::event_of(rules::EventClass::passage, window, 0, number_of(word));
    case OfferKind::shared_lock:
    case OfferKind::exclusive_lock:
        break;
    }
    return rules::event_of(rules::EventClass::place, window, place, number_of(word));
}

/// And what it would have done behind others: nobody else does it, once it is performed.
void Offers::follow(int place, std::uint64_t word) noexcept
{
    switch (kind_of(word)) {
    case OfferKind::access:
        break;
    case OfferKind::fence:
        with_.barrier.arrive_for_another(number_of(word) + 1);
        break;
    case OfferKind::shared_lock:
    case OfferKind::exclusive_lock:
        with_.locks.leave(place, *with_.contacts.peer(place).control, lock_type_of(kind_of(word)));
        break;
    }
}

bool Offers::perform_access(int origin, std::uint64_t exposure) noexcept
{
    if (!with_.allowed || with_.contacts.peer(origin).control == nullptr) {
        return false;
    }
    const int here = with_.contacts.rank();
    const auto& done = with_.contacts.peer(here).control->notices(origin).done;
    return take(here, origin, [&](std::uint64_t word) {
        return kind_of(word) == OfferKind::access &&
               rules::may_take_offer(number_of(word), done.load(std::memory_order_relaxed),
                                     exposure);
    });
}

bool Offers::perform_fences(std::uint64_t barrier) noexcept
{
    bool any = false;
    if (with_.contacts.broken()) { // where a barrier may look passed that is not
        return false;
    }
    for (const std::int32_t origin : neighbours_if_allowed()) {
        any |= origin != with_.contacts.rank() && take(origin, origin, [&](std::uint64_t word) {
                   return kind_of(word) == OfferKind::fence &&
                          rules::may_take_fence(number_of(word), barrier);
               });
    }
    return any;
}

bool Offers::perform_locks(int target) noexcept
{
    bool any = false;
    const LockQueue& queue = with_.contacts.peer(target).control->lock;
    for (const std::int32_t origin : neighbours_if_allowed()) {
        any |= origin != with_.contacts.rank() && take(target, origin, [&](std::uint64_t word) {
                   const OfferKind kind = kind_of(word);
                   return kind != OfferKind::access && kind != OfferKind::fence &&
                          rules::lock_admits(lock_type_of(kind), number_of(word),
                                             queue.departures() & numbers);
               });
    }
    return any;
}

} // namespace sidelight::rma
