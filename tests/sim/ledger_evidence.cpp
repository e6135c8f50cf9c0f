// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "ledger.hpp"
#include "rma/engine/window_parts.hpp"
#include "world.hpp"

/// The ledger's second third: what follows from an operation having taken effect.
namespace sidelight::sim {

using rma::EpochKind;
using rma::MessageKind;

namespace {

enum Key {
    access_after_access,
    access_after_exposure,
    exposure_after_exposure,
    exposure_after_access,
    none
};

bool is_access(const EpochRecord& epoch)
{
    return epoch.kind == EpochKind::access || epoch.kind == EpochKind::lock;
}

/// Which of P1's four keys concerns two neighbours. Written anew here, not taken from the engine.
Key key_of(const EpochRecord& earlier, const EpochRecord& later)
{
    const auto plain = [](const EpochRecord& epoch) {
        return is_access(epoch) || epoch.kind == EpochKind::exposure;
    };
    if (!plain(earlier) || !plain(later)) {
        return none;
    }
    if (is_access(later)) {
        return is_access(earlier) ? access_after_access : access_after_exposure;
    }
    return is_access(earlier) ? exposure_after_access : exposure_after_exposure;
}

bool is_set(const rma::Reorder& reorder, Key key)
{
    switch (key) {
    case access_after_access:
        return reorder.access_after_access;
    case access_after_exposure:
        return reorder.access_after_exposure;
    case exposure_after_exposure:
        return reorder.exposure_after_exposure;
    case exposure_after_access:
        return reorder.exposure_after_access;
    default:
        return false;
    }
}

bool conflict(const EpochRecord& a, const EpochRecord& b)
{
    return a.lock_type == rma::LockType::exclusive || b.lock_type == rma::LockType::exclusive;
}

/// Nothing more can come of the epoch at that target: it may have given the lock back.
bool is_over(EpochRecord& epoch, int target)
{
    const PartRecord& part = *epoch.part(target);
    return epoch.closed != 0 && part.landed == part.issued;
}

bool is_lock(EpochKind kind) { return kind == EpochKind::lock || kind == EpochKind::lock_all; }

rma::MessageHeader header_of(std::span<const std::byte> message)
{
    rma::MessageHeader header;
    std::memcpy(&header, message.data(), sizeof header);
    return header;
}

/// Whether it carries an operation, or a part of one.
bool is_operation(MessageKind kind)
{
    switch (kind) {
    case MessageKind::put:
    case MessageKind::get:
    case MessageKind::accumulate:
    case MessageKind::compare_and_swap:
    case MessageKind::put_scattered:
    case MessageKind::get_scattered:
    case MessageKind::accumulate_scattered:
        return true;
    default:
        return false;
    }
}

/// Where it begins at the target: the first word of the body, or of the list behind it.
std::uint64_t address_of(std::span<const std::byte> message)
{
    std::size_t at = sizeof(rma::MessageHeader);
    switch (header_of(message).kind) {
    case MessageKind::put_scattered:
        at += sizeof(rma::PutScatteredBody);
        break;
    case MessageKind::get_scattered:
        at += sizeof(rma::GetScatteredBody);
        break;
    case MessageKind::accumulate_scattered:
        at += sizeof(rma::AccumulateScatteredBody);
        break;
    default:
        break;
    }
    std::uint64_t address = 0;
    std::memcpy(&address, &message[at], sizeof address);
    return address;
}

} // namespace

void Ledger::scan(int rank)
{
    see_places(rank);
    look();
    check_kept(world_.rank(rank));
}

/// What a rank keeps for calls that have returned early has a bound, and nothing is kept for none.
void Ledger::check_kept(Rank& rank)
{
    if (rank.process().early().room().used > program_.early_bytes) {
        fail(rank.number(), "more is kept for calls that have returned than there is room for");
    }
    std::size_t bytes = 0;
    for (const OpRecord& op : outstanding_) {
        EpochRecord& epoch = *op.epoch;
        const bool is_kept = epoch.early && epoch.rank == rank.number() && !op.touched &&
                             !op.sent && !is_exposed(epoch, *epoch.part(op.target));
        bytes += is_kept ? op.words * sizeof(std::uint64_t) : 0;
    }
    if (bytes > program_.early_bytes) {
        fail(rank.number(), "more is kept for calls that have returned than there is room for");
    }
}

/// Reads all memory. What has come to an end since the last look came first: messages that were
/// held are performed within one step, and the last of them may give a lock to somebody.
void Ledger::look()
{
    std::vector<OpRecord> seen;
    for (std::size_t i = 0; i < outstanding_.size();) {
        OpRecord& op = outstanding_[i];
        const bool last = op.shows(op.words - 1);
        if (!op.touched && (last || op.shows(0))) {
            op.touched = true;
            seen.push_back(op);
        }
        if (last && op.landed()) {
            if (PartRecord* part = op.epoch->part(op.target); part != nullptr) {
                ++part->landed;
            }
            if (op.notification >= 0) {
                ++counter(op.epoch->window, op.target, op.notification).landed;
            }
            op = outstanding_.back();
            outstanding_.pop_back();
        } else {
            ++i;
        }
    }
    std::stable_partition(seen.begin(), seen.end(), [](const OpRecord& op) {
        return op.epoch->part(op.target) != nullptr && is_over(*op.epoch, op.target);
    });
    for (OpRecord& op : seen) {
        took_effect(op);
        check_issue_order(op);
    }
    if (!counters_.empty()) {
        check_counters();
    }
}

/// What was issued to the same target before an ordered operation, and is ordered too, is complete
/// there. Where the program lets epochs overlap that is so within one.
void Ledger::check_issue_order(const OpRecord& later)
{
    const auto is_ordered = [&](const OpRecord& op) {
        return world_.rank(op.epoch->rank).script()[op.step].ordered && !op.fetches;
    };
    if (!is_ordered(later)) {
        return;
    }
    for (const OpRecord& op : outstanding_) {
        const EpochRecord& epoch = *op.epoch;
        const bool before = op.step < later.step && op.target == later.target &&
                            epoch.rank == later.epoch->rank &&
                            epoch.window == later.epoch->window && is_ordered(op);
        if (before && (&epoch == later.epoch || program_.reorder.empty())) {
            return fail(epoch.rank, "an ordered operation has overtaken another");
        }
    }
}

/// A counter that shows a number says that so many of its operations are there.
void Ledger::check_counters()
{
    for (int window = 0; window < program_.windows; ++window) {
        for (int number = 0; number < program_.ranks; ++number) {
            Rank& rank = world_.rank(number);
            for (int index = 0; rank.has_window(window) && index < program_.counters; ++index) {
                std::uint64_t value = 0;
                const Status status = rank.window(window).parts().counters.value(
                    static_cast<std::uint32_t>(index), value);
                if (status != Status::ok || value > counter(window, number, index).landed) {
                    return fail(number, "a counter shows an operation that is not there");
                }
            }
        }
    }
}

/// What was kept when a call returned early is overtaken by no fence, by no lock, on whatever
/// window, and by nothing of a later access to the same target, unless the program lets accesses
/// overlap.
void Ledger::check_early(const OpRecord& op)
{
    std::erase_if(early_, [](const EpochRecord* epoch) {
        return std::all_of(epoch->parts.begin(), epoch->parts.end(),
                           [](const PartRecord& part) { return part.landed == part.issued; });
    });
    for (const EpochRecord* early : early_) {
        if (early->rank == op.epoch->rank && early->closing_step < op.epoch->opening_step) {
            check_early_epoch(op, *early);
        }
    }
}

void Ledger::check_early_epoch(const OpRecord& op, const EpochRecord& early)
{
    const EpochRecord& later = *op.epoch;
    const bool locks = is_lock(later.kind);
    for (const OpRecord& before : outstanding_) {
        if (before.epoch != &early || before.touched || before.sent || before.landed() ||
            (!locks && early.window != later.window)) {
            continue;
        }
        if (locks || later.kind == EpochKind::fence) {
            return fail(early.rank, "a fence or a lock did not wait for a call that had returned");
        }
        if (before.target == op.target && !later.keys.access_after_access) {
            return fail(early.rank, "an access has overtaken what was kept for its target");
        }
    }
}

void Ledger::took_effect(OpRecord& op)
{
    check_order(*op.epoch);
    check_early(op);
    switch (op.epoch->kind) {
    case EpochKind::fence:
        return check_fence(op);
    case EpochKind::access:
        return check_access(op);
    default:
        return check_lock(*op.epoch, op.target);
    }
}

/// The epoch is active. So are all that were opened before it, but for locks before an exposure;
/// and none of those that they had to wait for is still there: epochs activate in order, and by
/// default after the completion of those closed before they were opened.
void Ledger::check_order(const EpochRecord& epoch)
{
    const auto& live = history(epoch.window, epoch.rank).live;
    for (std::size_t later = 0; later < live.size() && live[later]->opened <= epoch.opened;
         ++later) {
        if (epoch.kind == EpochKind::exposure && is_lock(live[later]->kind)) {
            continue;
        }
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
            if (!check_pair(*live[earlier], *live[later], live[later] == &epoch)) {
                return;
            }
        }
    }
}

bool Ledger::check_pair(const EpochRecord& earlier, const EpochRecord& later, bool counts)
{
    if (earlier.closed == 0 || earlier.closed > later.opened) {
        return true;
    }
    const Key key = key_of(earlier, later);
    if (!is_set(later.keys, key)) {
        fail(later.rank, "an epoch was active before one that it must wait for was complete");
        return false;
    }
    statistics_.overlaps[key] += counts ? 1 : 0;
    return true;
}

/// Access number k of a pair works between the post and the end of exposure number k.
void Ledger::check_access(const OpRecord& op)
{
    const EpochRecord& epoch = *op.epoch;
    const std::uint64_t number = op.epoch->part(op.target)->number;
    Pair& p = pair(epoch.window, epoch.rank, op.target);
    if (p.exposures.size() < number) {
        return fail(epoch.rank, "an access transferred before its exposure was opened");
    }
    if (p.waited >= number) {
        return fail(epoch.rank, "an access transferred after its exposure had ended");
    }
    if (!epoch.no_check) {
        check_order(*p.exposures[number - 1]);
    }
}

void Ledger::check_fence(const OpRecord& op)
{
    const EpochRecord& epoch = *op.epoch;
    for (int rank = 0; rank < program_.ranks; ++rank) {
        if (history(epoch.window, rank).fences < epoch.fence) {
            return fail(epoch.rank, "a fence epoch transferred before all had called the fence");
        }
    }
    if (history(epoch.window, op.target).fences_done > epoch.fence) {
        fail(epoch.rank, "a fence epoch transferred after its target had left it");
    }
}

/// The origin holds the lock. Nobody who conflicts with it can, and nobody was overtaken.
void Ledger::check_lock(EpochRecord& epoch, int target)
{
    if (epoch.no_check) {
        return; // the program answers for it
    }
    PartRecord& part = *epoch.part(target);
    LockRecord& record = lock(epoch.window, target);
    std::erase_if(record.inside, [&](EpochRecord* other) { return is_over(*other, target); });
    for (EpochRecord* other : record.inside) {
        if (other != &epoch && conflict(*other, epoch)) {
            return fail(epoch.rank, "two ranks hold a lock of which one is exclusive");
        }
        statistics_.readers_together += other != &epoch ? 1 : 0;
    }
    if (!part.entered) {
        part.entered = true;
        record.inside.push_back(&epoch);
        check_fairness(record, epoch, target);
    }
}

void Ledger::check_fairness(LockRecord& record, const EpochRecord& epoch, int target)
{
    std::erase_if(record.placed, [&](EpochRecord* other) { return is_over(*other, target); });
    const std::uint64_t place = const_cast<EpochRecord&>(epoch).part(target)->place;
    for (EpochRecord* other : record.placed) {
        if (other->part(target)->place < place && conflict(*other, epoch)) {
            return fail(epoch.rank, "a lock was granted before one that had asked earlier");
        }
    }
}

void Ledger::take_place(EpochRecord& epoch, int target)
{
    LockRecord& record = lock(epoch.window, target);
    epoch.part(target)->place = ++record.places;
    record.arrivals += epoch.lock_type == rma::LockType::exclusive ? 1 : std::uint64_t{1} << 32;
    record.placed.push_back(&epoch);
}

/// Without exclusive locks a place excludes nobody: whether one is taken is the engine's affair.
void Ledger::see_places(int rank)
{
    if (program_.no_exclusive_locks) {
        return;
    }
    for (int window = 0; window < program_.windows; ++window) {
        for (int target = 0; target < program_.ranks; ++target) {
            if (world_.same_node(rank, target)) {
                see_places(window, rank, target);
            }
        }
    }
}

/// The rank has run, so new places in the queue of a member of its node are its own. It takes them
/// in the order of its calls.
void Ledger::see_places(int window, int rank, int target)
{
    const std::uint64_t arrivals = world_.control(window, target).lock.arrivals();
    LockRecord& record = lock(window, target);
    for (EpochRecord* epoch : history(window, rank).live) {
        if (record.arrivals == arrivals) {
            return;
        }
        if (!is_lock(epoch->kind)) {
            continue;
        }
        const PartRecord* part = epoch->part(target);
        if (part != nullptr && part->place == 0 && !epoch->no_check) {
            take_place(*epoch, target);
        }
    }
    if (record.arrivals != arrivals) {
        fail(rank, "a place in a lock queue was taken that the program did not want");
    }
}

/// A message that carries a watched operation proves that its epoch is active and granted.
void Ledger::sent(int from, int to, std::span<const std::byte> message)
{
    const rma::MessageHeader header = header_of(message);
    world_.trace(from, "send", static_cast<long>(header.kind), to);
    const bool asks =
        header.kind == MessageKind::acknowledgement_request || header.kind == MessageKind::probe;
    questions_ += asks ? 1 : 0;
    if (!is_operation(header.kind)) {
        return;
    }
    for (OpRecord& op : outstanding_) {
        const std::uint64_t first =
            world_.first_address(op.epoch->window, op.target) + op.cell * sizeof(std::uint64_t);
        if (op.epoch->rank == from && op.target == to &&
            op.epoch->window == static_cast<int>(header.window) - World::first_window_id &&
            address_of(message) >= first &&
            address_of(message) < first + cells_of(op.words, op.spread) * sizeof(std::uint64_t)) {
            op.sent = true;
            return took_effect(op);
        }
    }
}

/// A remote rank's place is taken when its message reaches the owner of the lock. What came before
/// an unlock has taken effect before others get in, which may be within the same sweep.
void Ledger::handed_over(int from, int to, std::span<const std::byte> message)
{
    see_places(to);
    const rma::MessageHeader header = header_of(message);
    if (header.kind == MessageKind::unlock) {
        scan(to);
    }
    world_.trace(to, "receive", static_cast<long>(header.kind), from);
    if (header.kind != MessageKind::lock) {
        return;
    }
    Pair& p = pair(static_cast<int>(header.window) - World::first_window_id, from, to);
    if (p.remote_places == p.remote_locks.size()) {
        return fail(from, "a lock was asked for that the program did not want");
    }
    take_place(*p.remote_locks[p.remote_places++], to);
}

} // namespace sidelight::sim
