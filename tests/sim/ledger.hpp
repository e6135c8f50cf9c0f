// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/sim/network.hpp"
#include "records.hpp"
#include "rma/channel/wire.hpp"
#include "script.hpp"

namespace sidelight::sim {

class Rank;
class World;

/// Checks a run against what MPI and P1 promise. It knows the program's calls, sees requests
/// complete, reads all memory after every step of an engine, and sees the messages; it asks the
/// engines for nothing but the number of their pending epochs. Every operation that is watched has
/// cells of its own and a value of its own, so the moment when it takes effect can be seen.
class Ledger final : public fabric::sim::Observer {
public:
    explicit Ledger(World& world);

    void calling(Rank& rank, std::size_t step);
    void called(Rank& rank, std::size_t step);
    void completed(Rank& rank, std::size_t step);
    void keys_set(const Rank& rank, const Step& step);
    /// The rank's engine has done something: looks what has taken effect.
    void scan(int rank);
    /// The run is over: nothing lost, nothing left.
    void finish();

    void sent(int from, int to, std::span<const std::byte> message) override;
    void handed_over(int from, int to, std::span<const std::byte> message) override;
    void placed(int to) override { scan(to); }
    void written() override { look(); }

    [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }
    /// New places in lock queues are those of the rank, which has run alone since the last look.
    void see_places(int rank);
    /// Messages of all ranks by which only their sender gains: questions what of its own is done.
    [[nodiscard]] std::uint64_t questions() const noexcept { return questions_; }

private:
    /// The epochs of one rank on one window.
    struct History {
        std::vector<EpochRecord*> live; ///< not completed, in opening order
        std::uint64_t clock = 0;
        std::uint64_t fences = 0;
        std::uint64_t fences_done = 0;
        EpochRecord* fence = nullptr;
        EpochRecord* access = nullptr;
        EpochRecord* exposure = nullptr;
        EpochRecord* lock_all = nullptr;
        std::map<int, EpochRecord*> locks{};
        rma::Reorder keys{};
    };
    /// From one rank to another on one window.
    struct Pair {
        std::vector<EpochRecord*> accesses;
        std::vector<EpochRecord*> exposures; ///< of the second rank, for the first
        std::uint64_t waited = 0;            ///< exposures whose end the second rank has seen
        std::vector<EpochRecord*> remote_locks;
        std::size_t remote_places = 0;
    };
    /// What a step's request will tell.
    struct Expectation {
        EpochRecord* epoch = nullptr; ///< the one that it closes
        std::uint64_t number = 0;     ///< fence: which; flush: the history's clock
    };
    /// An operation that fails, which its request does not tell: a call that waits for it has to.
    struct Stray {
        EpochRecord* epoch = nullptr;
        int target = 0;
        std::size_t step = 0;
        enum class Told : std::uint8_t { no, perhaps, yes } told = Told::no;
        fabric::sim::Time told_at = 0;
    };
    /// A counter of notifications.
    struct CounterRecord {
        std::uint64_t issued = 0; ///< operations that are to raise it
        std::uint64_t landed = 0; ///< of those, wholly visible where they go
    };
    /// Epochs in or before the lock queue of one member.
    struct LockRecord {
        std::vector<EpochRecord*> placed;
        std::vector<EpochRecord*> inside;
        std::uint64_t places = 0;
        std::uint64_t arrivals = 0; ///< the sum of those places, as the lock counts them
    };

    // ledger.cpp: what the program does
    EpochRecord& open(Rank& rank, const Step& step, rma::EpochKind kind);
    void open_group(Rank& rank, const Step& step);
    void open_passive(Rank& rank, const Step& step);
    void fence(Rank& rank, std::size_t step);
    void leave_fence(History& history);
    void close(Rank& rank, std::size_t step, EpochRecord*& epoch);
    void issue(Rank& rank, std::size_t step);
    EpochRecord* epoch_towards(History& history, int target);

    // ledger_completion.cpp: what a complete request promises
    void grant_awaited(const Rank& rank, const Step& step);
    void closing_completed(Rank& rank, std::size_t step);
    void fence_completed(const Rank& rank, std::size_t step);
    void exposure_completed(const Rank& rank, const EpochRecord& epoch);
    void note_early_return(EpochRecord& epoch);
    [[nodiscard]] bool is_exposed(const EpochRecord& epoch, const PartRecord& part);
    void check_let_in(Rank& rank, std::size_t number);
    void flush_completed(Rank& rank, std::size_t step);
    void operation_completed(Rank& rank, std::size_t step);
    void stray_ended(const Rank& rank, std::size_t step);
    [[nodiscard]] bool covers(const Rank& rank, std::size_t flush, const Stray& stray);
    [[nodiscard]] bool is_claimed(const Rank& rank, std::size_t by_other_than, const Stray& stray);
    void check_status(const Rank& rank, std::size_t step);
    void check_told(const Rank& rank, std::size_t step, const std::vector<Stray*>& waited_for,
                    bool for_all);
    void threshold_completed(Rank& rank, const Step& step);
    void check_final_counters(Rank& rank, int window);
    void check_final_memory();
    void check_fetched();

    // ledger_evidence.cpp: what an operation's effect proves
    void look();
    void took_effect(OpRecord& op);
    void check_issue_order(const OpRecord& later);
    void check_counters();
    void check_order(const EpochRecord& epoch);
    void check_early(const OpRecord& op);
    void check_early_epoch(const OpRecord& op, const EpochRecord& early);
    void check_kept(Rank& rank);
    bool check_pair(const EpochRecord& earlier, const EpochRecord& later, bool counts);
    void check_access(const OpRecord& op);
    void check_fence(const OpRecord& op);
    void check_lock(EpochRecord& epoch, int target);
    void check_fairness(LockRecord& lock, const EpochRecord& epoch, int target);
    void take_place(EpochRecord& epoch, int target);
    void see_places(int window, int rank, int target);

    void fail(int rank, const char* what);
    [[nodiscard]] History& history(int window, int rank);
    [[nodiscard]] Pair& pair(int window, int from, int to);
    [[nodiscard]] LockRecord& lock(int window, int target);
    [[nodiscard]] CounterRecord& counter(int window, int target, int index);
    [[nodiscard]] Expectation& expectation(const Rank& rank, std::size_t step);

    World& world_;
    const Program& program_;
    std::deque<EpochRecord> epochs_;
    std::vector<History> histories_;
    std::unordered_map<std::size_t, Pair> pairs_;
    std::vector<LockRecord> locks_;
    std::vector<CounterRecord> counters_; ///< per window, target and counter
    std::vector<std::vector<Expectation>> expectations_;
    std::vector<OpRecord> outstanding_;
    std::vector<EpochRecord*> early_; ///< whose calls have returned, with something left to do
    std::deque<Stray> strays_;
    Statistics statistics_;
    std::uint64_t questions_ = 0;
};

} // namespace sidelight::sim
