// SPDX-License-Identifier: BSD-3-Clause
#include "early_return.hpp"

#include <algorithm>
#include <array>

#include "draft.hpp"

namespace sidelight::sim {

namespace {

using rma::LockType;

/// Draws one program; used once.
class BlockingGenerator {
public:
    explicit BlockingGenerator(std::uint64_t seed)
        : random_(seed * 2 + 1),
          ranks_(random_.between(2, 5)),
          windows_(random_.between(1, 2)),
          draft_(ranks_, random_.between(1, ranks_), windows_)
    {
        Program& program = draft_.program();
        program.seed = seed;
        program.costs.latency = std::array<Time, 2>{200, 5'000}[random_.below(2)];
        program.costs.jitter = std::array<Time, 2>{0, 20'000}[random_.below(2)];
        program.costs.native_percent = std::array<unsigned, 3>{0, 0, 100}[random_.below(3)];
        program.early_bytes = std::array<std::size_t, 4>{0, 1'200, 5'000, 1'000'000}[seed % 4];
        program.smart = random_.chance(60);
        program.autonomous = !program.smart && random_.chance(60);
        if (!is_helped()) {
            program.costs.full_percent = 0; // what waits for room in the network needs its sender
        }
        program.direct = random_.chance(50);
        program.carried = random_.chance(20);
        program.opened = random_.chance(50);
        if (random_.chance(20)) {
            program.reorder.assign(static_cast<std::size_t>(ranks_), {});
            for (rma::Reorder& keys : program.reorder) {
                keys.exposure_after_exposure = random_.chance(50);
                keys.access_after_access = random_.chance(30);
            }
        }
    }

    Program draw()
    {
        for (int items = random_.between(1, 8); items > 0; --items) {
            const auto kind = random_.below(10);
            if (kind < 2) {
                exchange_ahead();
            } else if (kind < 3) {
                exchange_behind_another();
            } else if (kind < 5 || !is_helped()) {
                exchanges();
            } else if (kind < 8) {
                locks();
            } else {
                fences();
            }
            if (random_.chance(40)) {
                meet();
            }
        }
        return draft_.finish();
    }

private:
    /// Else a rank that makes no call gives no lock away and passes no fence on.
    [[nodiscard]] bool is_helped() { return draft_.program().smart || draft_.program().autonomous; }
    void compute(int rank)
    {
        if (random_.chance(50)) {
            author(rank, 0).compute(random_.below(random_.chance(50) ? 2'000 : 100'000));
        }
    }
    [[nodiscard]] Author author(int rank, int window) { return draft_.rank(rank, window); }

    void meet()
    {
        for (int rank = 0; rank < ranks_; ++rank) {
            author(rank, 0).meet_in_memory();
        }
    }

    /// Rank after rank is an origin for some that come after it, or all before it, so that calls
    /// that wait for their targets never wait in a circle. A target may be late by as much as all
    /// that comes before its post.
    void exchanges()
    {
        const int window = random_.between(0, windows_ - 1);
        const int rounds = random_.between(1, 3);
        for (int round = 0; round < rounds; ++round) {
            const int origin = random_.between(0, ranks_ - 1);
            std::vector<int> targets;
            for (int rank = 0; rank < ranks_; ++rank) {
                if (rank != origin && (random_.chance(50) || ranks_ == 2)) {
                    targets.push_back(rank);
                }
            }
            exchange(window, origin, targets);
        }
    }

    /// A call that waits, behind one that does not and has something left that the same target
    /// waits for first: on another window, or on this one, if accesses may overlap.
    void exchange_behind_another()
    {
        const Program& program = draft_.program();
        const int origin = random_.between(0, ranks_ - 1);
        const int target = (origin + 1) % ranks_;
        const bool overlap = !program.reorder.empty() &&
                             program.reorder[static_cast<std::size_t>(origin)].access_after_access;
        if (windows_ == 1 && !overlap) {
            return;
        }
        Author first = author(origin, 0);
        Author second = author(origin, windows_ - 1);
        compute(target);
        first.start({target});
        first.write(random_.chance(50) ? Call::put : Call::accumulate, target, words());
        first.make_bare();
        const auto left = static_cast<int>(first.complete(Mode::nonblocking));
        second.start({target});
        second.write(Call::put, target, words());
        second.make_bare();
        second.complete(Mode::blocking);
        for (const int window : {0, windows_ - 1}) {
            author(target, window).post({origin});
            author(target, window).wait(Mode::blocking);
        }
        meet();
        first.wait_for({left});
    }

    void exchange(int window, int origin, const std::vector<int>& targets)
    {
        Author from = author(origin, window);
        std::vector<Shown> shown;
        for (const int target : targets) {
            Author to = author(target, window);
            compute(target);
            shown.push_back(to.expose());
            to.post({origin});
        }
        compute(origin);
        from.start(targets);
        const bool gets = random_.chance(10);
        for (std::size_t index = 0; index < targets.size(); ++index) {
            if (gets && random_.chance(50)) {
                from.get(targets[index], shown[index]);
                continue;
            }
            for (int left = random_.between(0, 2); left > 0; --left) {
                from.write(random_.chance(70) ? Call::put : Call::accumulate, targets[index],
                           words(), random_.chance(20) ? Spread::every_other : Spread::none);
                from.make_bare();
            }
        }
        from.complete(Mode::blocking);
        for (const int target : targets) {
            random_.chance(70) ? author(target, window).wait(Mode::blocking)
                               : author(target, window).test();
        }
    }

    /// A target whose exposures may overlap grants several accesses at once.
    void exchange_ahead()
    {
        const Program& program = draft_.program();
        const int target = random_.between(0, ranks_ - 1);
        const int origin = (target + 1) % ranks_;
        if (program.reorder.empty() ||
            !program.reorder[static_cast<std::size_t>(target)].exposure_after_exposure) {
            return;
        }
        const int epochs = random_.between(2, 4);
        Author to = author(target, 0);
        std::vector<int> waits;
        compute(target);
        for (int epoch = 0; epoch < epochs; ++epoch) {
            to.post({origin});
            waits.push_back(static_cast<int>(to.wait(Mode::nonblocking)));
        }
        to.wait_for(std::move(waits));
        for (int epoch = 0; epoch < epochs; ++epoch) {
            exchange_part(author(origin, 0), target);
        }
    }

    void exchange_part(Author from, int target)
    {
        from.start({target});
        from.write(random_.chance(50) ? Call::put : Call::accumulate, target, words());
        from.make_bare();
        from.complete(Mode::blocking);
    }

    /// Now and then more than fit into one message.
    std::size_t words()
    {
        return 2 * (random_.chance(10) ? 100 + random_.below(1'500) : 1 + random_.below(8));
    }

    /// Some ranks lock some, in the order of windows and ranks.
    void locks()
    {
        for (int rank = 0; rank < ranks_; ++rank) {
            if (!random_.chance(60)) {
                continue;
            }
            compute(rank);
            std::vector<std::pair<int, int>> held;
            for (int window = 0; window < windows_; ++window) {
                for (int target = 0; target < ranks_; ++target) {
                    if (held.size() < 3 && random_.chance(35)) {
                        lock(rank, window, target);
                        held.emplace_back(window, target);
                    }
                }
            }
            compute(rank);
            for (const auto& [window, target] : held) {
                author(rank, window).unlock(target, Mode::blocking);
            }
        }
    }

    void lock(int rank, int window, int target)
    {
        Author a = author(rank, window);
        a.lock(random_.chance(70) ? LockType::exclusive : LockType::shared, target);
        a.write(Call::put, target);
        a.make_bare();
        // The lock is held. Across windows, and where the key gives it up, none else keeps the
        // order.
        if (windows_ > 1 || !draft_.program().reorder.empty() || random_.chance(60)) {
            a.flush(target, rma::FlushScope::remote, Mode::blocking);
        }
    }

    void fences()
    {
        const int window = random_.between(0, windows_ - 1);
        for (const bool last : {false, true}) {
            for (int rank = 0; rank < ranks_; ++rank) {
                Author a = author(rank, window);
                a.fence(Mode::blocking, {.no_succeed = last});
                if (!last && random_.chance(50)) {
                    a.write(Call::put, random_.between(0, ranks_ - 1));
                    a.make_bare();
                }
            }
        }
    }

    fabric::sim::Random random_;
    int ranks_;
    int windows_;
    Draft draft_;
};

} // namespace

Program draw_blocking(std::uint64_t seed) { return BlockingGenerator(seed).draw(); }

} // namespace sidelight::sim
