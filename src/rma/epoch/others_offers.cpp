// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/others_offers.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "datatype/basic_layout.hpp"
#include "rma/region/own_memory.hpp"

namespace sidelight::rma {

using namespace offer_word;
using fabric::AccessPiece;
using fabric::RemoteMemory;

namespace {

constexpr LockType lock_type_of(OfferKind kind) noexcept
{
    return kind == OfferKind::shared_lock ? LockType::shared : LockType::exclusive;
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

} // namespace

/// Everything of the origin's is read by the kernel, which fails if that process is gone.
bool OthersOffers::perform(std::uint64_t at, std::uint64_t word, int origin,
                           RemoteMemory& memory) noexcept
{
    Offer offer;
    const AccessPiece all{
        .here = reinterpret_cast<std::byte*>(&offer), .there = at, .bytes = sizeof offer};
    if (!move(memory, &RemoteMemory::get, {&all, 1}) || offer.window != with_.contacts.window() ||
        offer.word != word || offer.origin != origin || offer.count > Offer::most_pieces) {
        return false;
    }
    bytes_left_ -= std::min(bytes_left_, offer.bytes());
    return carry_out(offer, memory);
}

/// What is done to the window again if the origin has to do it all itself does no harm; so what is
/// accumulated comes last, when nothing can fail any more.
bool OthersOffers::carry_out(const Offer& offer, RemoteMemory& memory) noexcept
{
    const std::size_t all = offer.operand_bytes();
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
    for (const OfferedPiece& piece : offer.all()) {
        std::byte* here = memory_of(piece);
        if (here == nullptr) {
            return false;
        }
        const bool combines = piece.kind == OperationKind::accumulate;
        Pieces& pieces = piece.kind == OperationKind::get ? written : read;
        pieces.add(
            {.here = combines ? operand : here, .there = piece.origin, .bytes = piece.bytes});
        operand += piece.operand_bytes();
    }
    if (!move(memory, &RemoteMemory::get, read.all()) ||
        !move(memory, &RemoteMemory::put, written.all())) {
        return false;
    }
    combine(offer, operands.get());
    return true;
}

/// Null: it cannot be reached.
std::byte* OthersOffers::memory_of(const OfferedPiece& piece) noexcept
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
void OthersOffers::combine(const Offer& offer, std::byte* operands) noexcept
{
    for (const OfferedPiece& piece : offer.all()) {
        if (piece.kind == OperationKind::accumulate) {
            const datatype::Layout& layout = datatype::basic_layout(piece.basic);
            const std::size_t elements = piece.bytes / layout.size;
            static_cast<void>(with_.accumulates.accumulate(
                piece.reduce, accumulate_target(with_.contacts.target(piece.rank), piece.rank),
                {operands, &layout, elements}, {}, {memory_of(piece), &layout, elements}));
            operands += piece.operand_bytes();
        }
    }
}

template <class May>
bool OthersOffers::take(int place, int origin, May may) noexcept
{
    if (bytes_left_ == 0 || with_.contacts.target(origin).lost) {
        return false;
    }
    OfferWord& word = with_.contacts.offered(place, origin);
    if (state_of(word.offer.load(std::memory_order_relaxed)) != OfferState::offered) {
        return false;
    }
    RemoteMemory* memory = with_.contacts.process_memory(origin); // it may be another by now
    std::uint64_t found = word.offer.load(std::memory_order_relaxed);
    const std::uint64_t mine =
        pack(with_.contacts.peer(with_.contacts.rank()).here, kind_of(found), OfferState::taken);
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
bool OthersOffers::announce(int place, int origin, std::uint64_t taken, std::uint64_t word) noexcept
{
    if (kind_of(word) == OfferKind::access && state_of(word) == OfferState::performed) {
        with_.contacts.peer(place).control->notices(origin).done.store(number_of(word),
                                                                       std::memory_order_release);
    }
    // Releases what was done; pairs with the acquire in `take_back`.
    if (!with_.contacts.offered(place, origin)
             .offer.compare_exchange_strong(taken, word, std::memory_order_seq_cst,
                                            std::memory_order_relaxed)) {
        return false;
    }
    with_.contacts.wake(origin, event_of(place, word));
    return true;
}

/// What a thread of the origin's, if there is one by now, asks for.
Event OthersOffers::event_of(int place, std::uint64_t word) const noexcept
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
void OthersOffers::follow(int place, std::uint64_t word) noexcept
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

bool OthersOffers::perform_access(int origin, std::uint64_t exposure) noexcept
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

bool OthersOffers::perform_fences(std::uint64_t barrier) noexcept
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

bool OthersOffers::perform_locks(int target) noexcept
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
