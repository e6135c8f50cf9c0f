// SPDX-License-Identifier: BSD-3-Clause
#include "offers.hpp"

#include <array>
#include <utility>
#include <vector>

#include "draft.hpp"

namespace sidelight::sim {

namespace {

/// Draws one program; used once.
class OfferGenerator {
public:
    explicit OfferGenerator(std::uint64_t seed)
        : random_(seed * 2 + 1),
          ranks_(random_.between(2, 5)),
          windows_(random_.between(1, 2)),
          draft_(ranks_, random_.chance(70) ? ranks_ : random_.between(1, ranks_), windows_),
          requests_(static_cast<std::size_t>(ranks_))
    {
        Program& program = draft_.program();
        program.seed = seed;
        program.costs.latency = std::array<Time, 2>{200, 5'000}[random_.below(2)];
        program.costs.jitter = std::array<Time, 2>{0, 20'000}[random_.below(2)];
        program.autonomous = random_.chance(10);
        program.smart = !program.autonomous && random_.chance(20);
        program.carried = random_.chance(30);
        program.copied = random_.chance(50);
        program.direct = random_.chance(50);
        program.threaded = random_.chance(10);
        program.unreadable = random_.chance(5);
        program.failing_visits = random_.chance(20) ? 30 : 0;
        program.progress_percent = std::array<unsigned, 3>{0, 30, 100}[random_.below(3)];
        if (random_.chance(50)) {
            program.reorder.assign(static_cast<std::size_t>(ranks_), {});
            for (rma::Reorder& keys : program.reorder) {
                keys = {.access_after_access = random_.chance(60),
                        .access_after_exposure = random_.chance(60),
                        .exposure_after_exposure = random_.chance(60),
                        .exposure_after_access = random_.chance(60)};
            }
        }
    }

    Program draw()
    {
        for (int items = random_.between(1, 8); items > 0; --items) {
            const int window = random_.between(0, windows_ - 1);
            switch (random_.below(4)) {
            case 0:
                fences(window);
                break;
            case 1:
                locks(window, random_.between(0, ranks_ - 1));
                break;
            default:
                exchange(window, random_.between(0, ranks_ - 1));
            }
        }
        return draft_.finish();
    }

private:
    void compute(Author author)
    {
        if (random_.chance(60)) {
            author.compute(random_.below(random_.chance(50) ? 2'000 : 100'000));
        }
    }

    /// Some accesses of one origin, which comes early or late, with an exposure of each target for
    /// each.
    void exchange(int window, int origin)
    {
        std::vector<int> targets;
        for (int rank = 0; rank < ranks_; ++rank) {
            if (rank != origin && (random_.chance(50) || ranks_ == 2)) {
                targets.push_back(rank);
            }
        }
        const int accesses = random_.chance(60) ? 1 : random_.between(2, 4);
        for (int access = 0; access < accesses; ++access) {
            std::vector<Shown> shown;
            for (const int target : targets) {
                shown.push_back(expose(draft_.rank(target, window), origin));
            }
            work(draft_.rank(origin, window), targets, shown);
        }
        compute(draft_.rank(origin, window));
    }

    Shown expose(Author target, int origin)
    {
        compute(target);
        const Shown shown = target.expose();
        target.post({origin});
        compute(target);
        if (random_.chance(20)) {
            target.test();
        } else {
            target.wait(random_.chance(60) ? blocking : nonblocking);
        }
        return shown;
    }

    void work(Author origin, const std::vector<int>& targets, const std::vector<Shown>& shown)
    {
        compute(origin);
        origin.start(targets);
        for (std::size_t index = 0; index < targets.size(); ++index) {
            if (random_.chance(30)) {
                origin.get(targets[index], shown[index]);
            }
            writes(origin, targets[index]);
        }
        closed(origin, origin.complete(random_.chance(85) ? nonblocking : blocking));
    }

    void writes(Author origin, int target)
    {
        if (random_.chance(5)) {
            origin.fetch_add(target); // cannot be offered
        }
        for (int accumulates = random_.between(0, 2); accumulates > 0; --accumulates) {
            accumulate(origin, target);
        }
        for (int puts = random_.between(0, 3); puts > 0; --puts) {
            const std::size_t words = 2 * (1 + random_.below(random_.chance(20) ? 750 : 4));
            origin.write(Call::put, target, words,
                         random_.chance(20) ? Spread::every_other : Spread::none);
            if (random_.chance(50)) {
                origin.make_bare();
            }
        }
    }

    /// By that step.
    void closed(Author author, std::size_t closing)
    {
        Ranks& requests = requests_[static_cast<std::size_t>(author.number())];
        requests.push_back(static_cast<int>(closing));
        compute(author);
        if (random_.chance(30)) {
            author.wait_for(std::exchange(requests, {}));
        }
    }

    /// Some fences of all, each early or late; between two some write to some.
    void fences(int window)
    {
        for (int left = random_.between(2, 4); left > 0; --left) {
            for (int rank = 0; rank < ranks_; ++rank) {
                Author author = draft_.rank(rank, window);
                compute(author);
                closed(author, author.fence(random_.chance(70) ? nonblocking : blocking,
                                            {.no_succeed = left == 1}));
                for (int target = 0; target < ranks_ && left > 1; ++target) {
                    if (random_.chance(40)) {
                        writes(author, target);
                    }
                }
            }
        }
    }

    /// Of one member, by several at once.
    void locks(int window, int target)
    {
        for (int rank = 0; rank < ranks_; ++rank) {
            Author author = draft_.rank(rank, window);
            for (int left = random_.between(0, 2); left > 0; --left) {
                compute(author);
                author.lock(random_.chance(30) ? rma::LockType::shared : rma::LockType::exclusive,
                            target);
                compute(author);
                if (random_.chance(80)) {
                    writes(author, target);
                }
                closed(author, author.unlock(target, random_.chance(70) ? nonblocking : blocking));
            }
        }
    }

    /// To cells of its own, or to the counter of all ranks.
    void accumulate(Author origin, int target)
    {
        if (random_.chance(50)) {
            origin.add(target);
        } else {
            const std::size_t words = 2 * (1 + random_.below(random_.chance(20) ? 350 : 3));
            origin.write(Call::accumulate, target, words,
                         random_.chance(20) ? Spread::every_other : Spread::none);
        }
        if (random_.chance(50)) {
            origin.make_bare();
        }
    }

    using Ranks = std::vector<int>;
    static constexpr Mode blocking = Mode::blocking;
    static constexpr Mode nonblocking = Mode::nonblocking;

    fabric::sim::Random random_;
    int ranks_;
    int windows_;
    Draft draft_;
    std::vector<Ranks> requests_;
};

} // namespace

Program draw_offers(std::uint64_t seed) { return OfferGenerator(seed).draw(); }

} // namespace sidelight::sim
