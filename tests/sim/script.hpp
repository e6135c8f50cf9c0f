// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/sim/network.hpp"
#include "rma/channel/credit.hpp"
#include "rma/engine/window.hpp"

/// What the ranks of a simulated job do: one script each, plain data, so that it can be drawn from
/// a seed, written by hand and printed.
namespace sidelight::sim {

using fabric::sim::Time;

enum class Call : std::uint8_t {
    // beside the library
    compute,  ///< no call and no progress for `duration`
    meet,     ///< a barrier of all ranks that the library knows nothing of; `bare`: in memory, so
              ///< that a rank that waits there makes no progress
    set_keys, ///< the reorder keys of the window, for epochs opened from now on
    expose,   ///< stores `value` and up into the rank's own memory
    release,  ///< ends what memory handles of the rank's memory name
    wait_for, ///< waits for the requests of the steps in `list`
    attach,   ///< dynamic windows: `words` cells from `cell` on, again
    detach,   ///< the same, which were attached
    // synchronisation
    fence,
    post,
    start,
    complete,
    wait,
    test,
    lock,
    unlock,
    lock_all,
    unlock_all,
    flush,
    await_grant,
    await_notification, ///< until counter `cell` of the rank itself has reached `value`
    close,
    // operations on cells that nothing else touches, `value` and up
    put,
    get,
    fetch, ///< reads by an accumulate what an accumulate of the same epoch has written before
    accumulate,
    compare_and_swap,
    // operations on cells that all ranks share
    add,         ///< accumulate 1 to the counter
    fetch_add,   ///< the same, and the old value comes back
    read_tally,  ///< get of the tally, which only exclusive locks protect
    write_tally, ///< put of 1 more than the step `list[0]` has read
    stray,       ///< dynamic windows: a put to memory that is not attached, or by a released name
    // ordered operations on cells of their own, with nothing between them
    overwrite, ///< put of `value` and up
    reread,    ///< get of the same: what was put before is there, and what is put next is not
};

[[nodiscard]] const char* name(Call call) noexcept;
/// The same with "done", for traces.
[[nodiscard]] const char* done_name(Call call) noexcept;

[[nodiscard]] constexpr bool is_operation(Call call) noexcept { return call >= Call::put; }

/// Whether the call moves data to or from a cell of its own, so that its effect can be watched.
[[nodiscard]] constexpr bool is_watched(Call call) noexcept
{
    return call >= Call::put && call <= Call::compare_and_swap;
}

/// Whether its effect is at the origin.
[[nodiscard]] constexpr bool is_read(Call call) noexcept
{
    return call == Call::get || call == Call::fetch;
}

/// The cells of a member's memory, 8 bytes each, that have a meaning of their own.
inline constexpr std::size_t counter_cell = 0;
inline constexpr std::size_t tally_cell = 1;
inline constexpr std::size_t first_free_cell = 2;

/// How the words of an operation lie at the target.
enum class Spread : std::uint8_t { none, every_other, first_apart };

/// The cell of a word, counted from that of the first.
constexpr std::size_t cell_of(std::size_t word, Spread spread) noexcept
{
    switch (spread) {
    case Spread::every_other:
        return 2 * word;
    case Spread::first_apart:
        return word == 0 ? 0 : word + 1;
    default:
        return word;
    }
}
/// From the first on.
constexpr std::size_t cells_of(std::size_t words, Spread spread) noexcept
{
    return words + (spread == Spread::every_other ? words : spread == Spread::first_apart ? 1 : 0);
}

/// One call. Only what the call needs is set.
struct Step {
    Call call = Call::compute;
    bool blocking = false;
    bool bare = false;    ///< an operation without a request: others tell of its end
    bool ordered = false; ///< an operation behind all ordered ones before it to the same target
    int window = 0;
    int target = 0; ///< may be rma::all_targets for a flush
    rma::LockType lock_type = rma::LockType::shared;
    rma::FlushScope scope = rma::FlushScope::remote;        ///< of a flush
    rma::FlushScope request_scope = rma::FlushScope::local; ///< of an operation
    rma::ThreadNumber thread = rma::no_thread; ///< of an operation or a flush with thread scope
    rma::Assertion assertion{};
    std::vector<int> list{}; ///< a group, or numbers of earlier steps
    rma::Reorder keys{};
    Time duration = 0;
    std::size_t cell = 0;
    std::uint64_t value = 0;
    std::size_t words = 1;
    Spread spread{};       ///< of its words at the target
    bool named = false;    ///< an operation, or a flush, through the window of a memory handle
    int notification = -1; ///< of an operation: the target's counter that it raises; -1: none
};

using Script = std::vector<Step>;

/// A job: how many ranks, how they are connected, what each does.
struct Program {
    int ranks = 2;
    int node_size = 1; ///< members of one node map each other
    int windows = 1;
    std::size_t cells = first_free_cell; ///< per member and window
    std::uint64_t seed = 0;
    fabric::sim::Costs costs{};
    std::vector<rma::Reorder> reorder; ///< per rank; none: all keys off
    bool autonomous = false;           ///< the library progresses while the program computes
    std::size_t early_bytes = 0;       ///< a rank keeps so many for closing calls that return early
    bool smart = false;       ///< while it computes a thread is called for what is recorded
    bool has_threads = false; ///< the program that is meant: it has one here, but others are told
    bool threaded = false;
    bool traced = false;         ///< each rank takes down what happens to it
    bool carried = false;        ///< only a rank's own memory is mapped: operations go by messages
    bool copied = false;         ///< and where so, put and get by a copy at once
    std::size_t copied_from = 0; ///< bytes; smaller ones only if they are alone
    bool unreadable = false;     ///< nobody reaches the memory of others on its node by the kernel
    unsigned failing_visits = 0; ///< percent of such accesses, half of which is done
    bool opened = false;         ///< memory that cards access is open from the start
    bool shared = false;         ///< shared windows, where all are on one node
    bool no_exclusive_locks = false; ///< promised, so that shared ones need no places
    bool dynamic = false;            ///< the memory is attached, in regions that touch at `borders`
    std::vector<std::size_t> borders; ///< cells
    bool handles = false;             ///< and memory handles name it, attached or not
    unsigned unmapped_percent = 0;    ///< of the regions: neighbours cannot map them
    unsigned no_map_percent = 0;      ///< so often mapping fails, as when the owner is at its table
    unsigned ordered_percent = 0;     ///< of the operations
    int counters = 0;                 ///< of notifications, per member and window
    bool direct = false;              ///< calls try the direct path first, as those of the API do
    unsigned progress_percent = 100;  ///< of the calls that sweep, as far as they may choose
    Time step_time = 20;              ///< a call takes up to so long
    rma::CreditLimits credit{};
    int dying_node = -1; ///< its ranks die, all at one time; -1: none
    Time dies_at = 0;
    std::vector<Script> scripts;

    [[nodiscard]] bool dies(int rank) const noexcept { return rank / node_size == dying_node; }
    [[nodiscard]] bool somebody_dies() const noexcept { return dying_node >= 0; }
    [[nodiscard]] Script& script(int rank) { return scripts[static_cast<std::size_t>(rank)]; }
};

} // namespace sidelight::sim
