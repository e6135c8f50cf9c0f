// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include "ledger.hpp"
#include "rma/engine/window_parts.hpp"
#include "world.hpp"

/// The ledger's last third: what a complete request promises, and what must be true in the end.
namespace sidelight::sim {

using rma::EpochKind;

namespace {

constexpr std::uint64_t garbage = 0xdeadbeefdeadbeefU;

/// The origin's buffers belong to the program again, which may do this.
void scribble(Rank& rank, std::size_t step)
{
    std::fill_n(rank.origin(step), rank.script()[step].words, garbage);
}

/// Whether a get has brought the values that it wants.
bool has_brought(Rank& rank, std::size_t step)
{
    const Step& s = rank.script()[step];
    for (std::size_t word = 0; word < s.words; ++word) {
        if (rank.origin(step)[word] != s.value + word) {
            return false;
        }
    }
    return true;
}

/// Whether the operation's own request tells of its failure, whatever its route.
bool tells_itself(const Step& step)
{
    return !step.bare && step.request_scope == rma::FlushScope::remote;
}

/// Those of no thread are everybody's.
bool of_another_thread(const Step& operation, const Step& flush)
{
    return operation.thread != 0 && operation.thread != flush.thread;
}

} // namespace

void Statistics::add(const Statistics& other) noexcept
{
    for (int key = 0; key < 4; ++key) {
        overlaps[key] += other.overlaps[key];
    }
    readers_together += other.readers_together;
    done_early += other.done_early;
    flush_overtaken += other.flush_overtaken;
    far_ahead = std::max(far_ahead, other.far_ahead);
    strays += other.strays;
    notified += other.notified;
    early_returns += other.early_returns;
    calls += other.calls;
    futile_calls += other.futile_calls;
    operations += other.operations;
    messages += other.messages;
    accesses += other.accesses;
    visits += other.visits;
    events += other.events;
}

void Ledger::completed(Rank& rank, std::size_t step)
{
    scan(rank.number());
    check_status(rank, step);
    const Call call = rank.script()[step].call;
    switch (call) {
    case Call::stray:
        return stray_ended(rank, step);
    case Call::fence:
        fence_completed(rank, step);
        break;
    case Call::flush:
        flush_completed(rank, step);
        break;
    case Call::close:
        if (rank.window(rank.script()[step].window).pending_epochs() != 0) {
            fail(rank.number(), "epochs are pending on a closed window");
        }
        check_final_counters(rank, rank.script()[step].window);
        break;
    case Call::await_notification:
        threshold_completed(rank, rank.script()[step]);
        break;
    case Call::await_grant:
        grant_awaited(rank, rank.script()[step]);
        break;
    default:
        if (is_operation(call)) {
            operation_completed(rank, step);
        }
    }
    if (expectation(rank, step).epoch != nullptr) {
        closing_completed(rank, step);
    }
}

/// One that fails in its own call, or by its request, has told everything. The request of one that
/// goes by messages may be complete before it is refused.
void Ledger::stray_ended(const Rank& rank, std::size_t step)
{
    if (tells_itself(rank.script()[step]) && rank.status(step) == Status::ok) {
        return fail(rank.number(), "a request that waits for the target tells of no failure");
    }
    if (rank.status(step) == Status::rma_range) {
        std::erase_if(strays_, [&](const Stray& stray) {
            return stray.epoch->rank == rank.number() && stray.step == step;
        });
    } else {
        ++statistics_.strays;
    }
}

/// Whether a flush waits for what stays of its target's epoch.
bool Ledger::covers(const Rank& rank, std::size_t flush, const Stray& stray)
{
    const Step& s = rank.script()[flush];
    const EpochRecord& epoch = *stray.epoch;
    return (s.call == Call::flush || s.call == Call::await_grant) && epoch.rank == rank.number() &&
           epoch.window == s.window && stray.step < flush &&
           (s.target == rma::all_targets || s.target == stray.target) &&
           (epoch.closed == 0 || epoch.closed > expectation(rank, flush).number);
}

/// Whether a flush that still waits for something else may be the one to tell of it.
bool Ledger::is_claimed(const Rank& rank, std::size_t by_other_than, const Stray& stray)
{
    for (std::size_t step = stray.step + 1; step <= rank.position(); ++step) {
        if (step != by_other_than && step < rank.script().size() && !rank.completed(step) &&
            covers(rank, step, stray)) {
            return true;
        }
    }
    return false;
}

/// Errors are told by the next call that waits for what has failed, and by no other.
void Ledger::check_status(const Rank& rank, std::size_t step)
{
    const Step& s = rank.script()[step];
    const EpochRecord* closed = expectation(rank, step).epoch;
    const auto ended = [&](const Stray& stray) {
        return closed != nullptr && closed == stray.epoch;
    };
    std::vector<Stray*> waited_for;
    for (Stray& stray : strays_) {
        if ((covers(rank, step, stray) || ended(stray)) &&
            !tells_itself(rank.script()[stray.step])) {
            waited_for.push_back(&stray);
        }
    }
    if (s.call != Call::stray) {
        const bool for_all = s.call != Call::flush || s.scope == rma::FlushScope::remote;
        check_told(rank, step, waited_for, for_all);
    }
    std::erase_if(strays_, [&](const Stray& stray) {
        return ended(stray) && !is_claimed(rank, step, stray);
    });
}

/// Two calls that wait for an operation at the same time may both tell. A local flush need not have
/// waited for all.
void Ledger::check_told(const Rank& rank, std::size_t step, const std::vector<Stray*>& waited_for,
                        bool for_all)
{
    using enum Stray::Told;
    const bool tells = rank.status(step) != Status::ok;
    bool may_tell = false;
    bool must_tell = false;
    for (Stray* stray : waited_for) {
        const bool claimed = is_claimed(rank, step, *stray);
        may_tell |= stray->told != yes || stray->told_at >= rank.times(step).called;
        must_tell |= stray->told == no && !claimed;
        if (stray->told != yes && tells) {
            stray->told = for_all && !claimed ? yes : perhaps;
            stray->told_at = world_.network().now();
        }
    }
    if (tells && (!may_tell || rank.status(step) != Status::rma_range)) {
        fail(rank.number(), "a call tells of a failure that is none of its own");
    } else if (must_tell && for_all && !tells) {
        fail(rank.number(), "a call does not tell of a failure that it has waited for");
    }
}

void Ledger::grant_awaited(const Rank& rank, const Step& step)
{
    EpochRecord* epoch = epoch_towards(history(step.window, rank.number()), step.target);
    for (const PartRecord& part : epoch->parts) {
        if (step.target != rma::all_targets && step.target != part.peer) {
            continue;
        }
        if (epoch->kind != EpochKind::access) {
            check_lock(*epoch, part.peer);
        } else if (!epoch->no_check &&
                   pair(step.window, rank.number(), part.peer).exposures.size() < part.number) {
            fail(rank.number(), "an access was granted before its exposure was opened");
        }
    }
}

void Ledger::closing_completed(Rank& rank, std::size_t step)
{
    EpochRecord& epoch = *expectation(rank, step).epoch;
    if (epoch.kind == EpochKind::exposure) {
        exposure_completed(rank, epoch);
    }
    for (const OpRecord& op : outstanding_) {
        if (op.epoch == &epoch && (op.fetches || epoch.kind != EpochKind::access)) {
            fail(rank.number(), "an epoch is complete before all its operations");
        } else if (op.epoch == &epoch) {
            scribble(rank, op.step);
        }
    }
    epoch.completed = true;
    std::erase(history(epoch.window, rank.number()).live, &epoch);
    if (epoch.kind == EpochKind::access && !epoch.no_check) {
        note_early_return(epoch);
    }
}

/// The call has waited for no grant where something is still to be transferred to a target that
/// has opened no exposure for it.
void Ledger::note_early_return(EpochRecord& epoch)
{
    for (const PartRecord& part : epoch.parts) {
        epoch.early |= part.landed != part.issued && !is_exposed(epoch, part);
    }
    if (epoch.early) {
        ++statistics_.early_returns;
        early_.push_back(&epoch);
    }
}

bool Ledger::is_exposed(const EpochRecord& epoch, const PartRecord& part)
{
    return pair(epoch.window, epoch.rank, part.peer).exposures.size() >= part.number;
}

/// All have called it, and what the epoch that it ends has brought or sent is there.
void Ledger::fence_completed(const Rank& rank, std::size_t step)
{
    const Step& s = rank.script()[step];
    const std::uint64_t number = expectation(rank, step).number;
    if (s.assertion.no_precede) {
        return;
    }
    for (int other = 0; other < program_.ranks; ++other) {
        if (history(s.window, other).fences < number) {
            return fail(rank.number(), "a fence is complete before all have called it");
        }
    }
    for (const OpRecord& op : outstanding_) {
        if (op.epoch->kind == EpochKind::fence && op.epoch->window == s.window &&
            op.epoch->fence + 1 == number &&
            (op.target == rank.number() || op.epoch->rank == rank.number())) {
            return fail(rank.number(), "a fence is complete before the data of its epoch");
        }
    }
    history(s.window, rank.number()).fences_done = number;
}

void Ledger::exposure_completed(const Rank& rank, const EpochRecord& epoch)
{
    for (const PartRecord& part : epoch.parts) {
        Pair& p = pair(epoch.window, part.peer, rank.number());
        if (p.accesses.size() < part.number) {
            return fail(rank.number(), "an exposure is over before its access was opened");
        }
        EpochRecord& access = *p.accesses[part.number - 1];
        const PartRecord& mine = *access.part(rank.number());
        if (access.closed == 0 || mine.landed != mine.issued) {
            return fail(rank.number(), "an exposure is over before its access");
        }
        p.waited = part.number;
        const bool others_wait =
            std::any_of(access.parts.begin(), access.parts.end(),
                        [](const PartRecord& other) { return other.landed != other.issued; });
        statistics_.done_early += others_wait ? 1 : 0;
    }
}

/// A flush waits for what was issued before it, in epochs that were open then, and not for more.
void Ledger::flush_completed(Rank& rank, std::size_t step)
{
    const Step& s = rank.script()[step];
    const std::uint64_t clock = expectation(rank, step).number;
    for (const OpRecord& op : outstanding_) {
        if (op.epoch->rank != rank.number() || op.epoch->window != s.window ||
            (s.target != rma::all_targets && op.target != s.target) ||
            (op.epoch->closed != 0 && op.epoch->closed <= clock) ||
            (s.thread != 0 && of_another_thread(rank.script()[op.step], s))) {
            continue;
        }
        if (op.step > step) {
            ++statistics_.flush_overtaken;
        } else if (op.fetches || s.scope == rma::FlushScope::remote) {
            return fail(rank.number(), "a flush is complete before an operation issued earlier");
        } else {
            scribble(rank, op.step);
        }
    }
}

void Ledger::operation_completed(Rank& rank, std::size_t step)
{
    const Step& s = rank.script()[step];
    if (s.bare) {
        return; // nobody has said that it is complete
    }
    const bool reads = is_read(s.call) || s.call == Call::read_tally || s.call == Call::reread;
    if (!reads && s.request_scope == rma::FlushScope::local) {
        return scribble(rank, step);
    }
    for (const OpRecord& op : outstanding_) {
        if (op.epoch->rank == rank.number() && op.step == step) {
            return fail(rank.number(), reads ? "a get is complete with wrong data"
                                             : "a request is complete before its operation is at "
                                               "the target");
        }
    }
    if (!reads) {
        scribble(rank, step);
    }
}

void Ledger::threshold_completed(Rank& rank, const Step& step)
{
    std::uint64_t value = 0;
    const auto index = static_cast<std::uint32_t>(step.cell);
    if (rank.window(step.window).parts().counters.value(index, value) != Status::ok ||
        value < step.value) {
        fail(rank.number(), "a counter has not reached what was waited for");
    }
}

/// All members have called it, and so nothing is under way.
void Ledger::check_final_counters(Rank& rank, int window)
{
    for (int index = 0; index < program_.counters; ++index) {
        std::uint64_t value = 0;
        const Status status =
            rank.window(window).parts().counters.value(static_cast<std::uint32_t>(index), value);
        if (status != Status::ok || value != counter(window, rank.number(), index).issued) {
            return fail(rank.number(), "a counter does not show all its operations in the end");
        }
    }
}

void Ledger::finish()
{
    for (int number = 0; number < program_.ranks; ++number) {
        Rank& rank = world_.rank(number);
        for (std::size_t step = 0; step < rank.script().size(); ++step) {
            const Call call = rank.script()[step].call;
            if (call > Call::wait_for && !rank.completed(step)) {
                return fail(number, "a request never completed");
            }
        }
    }
    for (const Stray& stray : strays_) {
        if (stray.told == Stray::Told::no) {
            return fail(stray.epoch->rank, "a failure was never told");
        }
    }
    if (!outstanding_.empty()) {
        return fail(outstanding_.front().epoch->rank, "an operation was lost");
    }
    if (world_.word()->references != 1 || world_.spread()->references != 1) {
        return fail(-1, "a datatype is still referred to");
    }
    check_final_memory();
    check_fetched();
    statistics_.messages = world_.network().messages();
    statistics_.accesses = world_.network().accesses();
    statistics_.calls = world_.calls();
    statistics_.futile_calls = world_.futile_calls();
    statistics_.visits = world_.visits();
    statistics_.events = world_.network().events();
}

void Ledger::check_final_memory()
{
    std::vector<std::vector<std::uint64_t>> expected(histories_.size(),
                                                     std::vector<std::uint64_t>(program_.cells, 0));
    for (int rank = 0; rank < program_.ranks; ++rank) {
        for (const Step& step : program_.scripts[static_cast<std::size_t>(rank)]) {
            const int owner = step.call == Call::expose ? rank : step.target;
            if (owner < 0) {
                continue;
            }
            auto& cells = expected[static_cast<std::size_t>(step.window * program_.ranks + owner)];
            if (step.call == Call::add || step.call == Call::fetch_add) {
                ++cells[counter_cell];
            } else if (step.call == Call::write_tally) {
                ++cells[tally_cell];
            } else if (step.call == Call::expose || step.call == Call::overwrite ||
                       (is_watched(step.call) && !is_read(step.call))) {
                for (std::size_t word = 0; word < step.words; ++word) {
                    cells[step.cell + cell_of(word, step.spread)] = step.value + word;
                }
            }
        }
    }
    for (int window = 0; window < program_.windows; ++window) {
        for (int rank = 0; rank < program_.ranks; ++rank) {
            const auto& cells = expected[static_cast<std::size_t>(window * program_.ranks + rank)];
            if (cells != world_.left_behind(window, rank)) {
                return fail(rank, "the memory is not what all operations together make of it");
            }
            if (!world_.left_alone(window, rank)) {
                return fail(rank, "memory was written after its window was freed");
            }
        }
    }
}

/// Every fetch_add has seen another value of its counter, every swap what was there before, and
/// every get in a row of ordered operations what was put last.
void Ledger::check_fetched()
{
    std::map<std::pair<int, int>, std::vector<std::uint64_t>> counts;
    for (int number = 0; number < program_.ranks; ++number) {
        Rank& rank = world_.rank(number);
        for (std::size_t step = 0; step < rank.script().size(); ++step) {
            const Step& s = rank.script()[step];
            if (s.call == Call::fetch_add) {
                counts[{s.window, s.target}].push_back(*rank.result(step));
            } else if (s.call == Call::compare_and_swap && *rank.result(step) != 0) {
                return fail(number, "compare_and_swap has brought a wrong old value");
            } else if (s.call == Call::reread && !has_brought(rank, step)) {
                return fail(number, "an ordered get has not seen what its place in the order says");
            }
        }
    }
    for (auto& [counter, values] : counts) {
        std::sort(values.begin(), values.end());
        if (std::adjacent_find(values.begin(), values.end()) != values.end() ||
            values.back() >= world_.left_behind(counter.first, counter.second)[counter_cell]) {
            return fail(counter.second, "two fetch_adds have seen the same value");
        }
    }
}

} // namespace sidelight::sim
