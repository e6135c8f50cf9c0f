// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "datatype/builder.hpp"
#include "fabric/peer_memory.hpp"
#include "fabric/remote_memory.hpp"
#include "fabric/sim/network.hpp"
#include "handles.hpp"
#include "ledger.hpp"
#include "rank.hpp"
#include "script.hpp"

namespace sidelight::sim {

struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
};
/// Zeroed memory on a cache line of its own.
using Block = std::unique_ptr<std::byte, Free>;
[[nodiscard]] Block allocate_block(std::size_t bytes);

/// One simulated job: the network, the ranks with their engines, the windows over all of them, and
/// the ledger that checks what happens.
class World {
public:
    static constexpr int first_window_id = 7; ///< of the first window, in messages

    explicit World(const Program& program);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// Runs every script to its end. False if anything was wrong; `report` says what.
    bool run();

    /// What was wrong, with the seed, the last events and what each rank waits for.
    void report(std::FILE* out);
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
    /// Only the first failure is kept.
    void fail(int rank, const char* what);

    [[nodiscard]] const Program& program() const noexcept { return program_; }
    [[nodiscard]] fabric::sim::Network& network() noexcept { return network_; }
    [[nodiscard]] fabric::sim::Random& random() noexcept { return network_.random(); }
    [[nodiscard]] Rank& rank(int number) noexcept
    {
        return *ranks_[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }
    /// The cells of a member of a window.
    [[nodiscard]] std::uint64_t* memory(int window, int rank) noexcept
    {
        return reinterpret_cast<std::uint64_t*>(memory_[block_index(window, rank)].get());
    }
    /// The rank has freed the window, and uses its memory for something else.
    void take_back(int window, int rank);
    /// What was in there when the rank freed the window.
    [[nodiscard]] const std::vector<std::uint64_t>& left_behind(int window, int rank) const noexcept
    {
        return left_behind_[block_index(window, rank)];
    }
    /// Whether nobody has written there since.
    [[nodiscard]] bool left_alone(int window, int rank) noexcept;
    /// Where a cell is, in the window's displacement units.
    [[nodiscard]] std::int64_t displacement(int window, const Step& step) noexcept;
    /// Attaches cells of a member, which neighbours can map, or cannot.
    void attach(int window, int rank, std::size_t first, std::size_t cells);
    /// What messages name the member's first cell.
    [[nodiscard]] std::uint64_t first_address(int window, int rank) noexcept
    {
        return program_.dynamic ? reinterpret_cast<std::uint64_t>(memory(window, rank)) : 0;
    }
    [[nodiscard]] MemberRegions& regions(int window, int rank) noexcept
    {
        return regions_[block_index(window, rank)];
    }
    /// What a handle of the member says.
    [[nodiscard]] rma::RegionShape region(int window, int rank, bool past) noexcept;
    [[nodiscard]] fabric::PeerMemory& peer_memory() noexcept { return peer_memory_; }
    /// The words that members write into each other.
    [[nodiscard]] rma::Control& control(int window, int rank) noexcept
    {
        return *controls_[block_index(window, rank)];
    }
    [[nodiscard]] bool same_node(int a, int b) const noexcept
    {
        return a / program_.node_size == b / program_.node_size;
    }
    /// Accesses to memory on the same node that were tried by a copy at once.
    [[nodiscard]] int copies() const noexcept { return copies_; }
    /// How often messages of the rank that made the first of them had left by then.
    [[nodiscard]] std::uint64_t batches_before_copies() const noexcept
    {
        return batches_before_copies_;
    }
    /// A rank that computes was called by an event.
    void note_call(bool futile) noexcept
    {
        ++calls_;
        futile_calls_ += futile ? 1 : 0;
    }
    [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
    [[nodiscard]] std::uint64_t futile_calls() const noexcept { return futile_calls_; }
    /// Times that somebody has read the memory of another rank on its node.
    [[nodiscard]] std::uint64_t visits() const noexcept { return visits_; }
    [[nodiscard]] const datatype::Layout* word() const noexcept { return word_.get(); }
    /// Another one, which its owner may free when the call that it was given to has returned.
    [[nodiscard]] static datatype::LayoutPointer make_word();
    /// So many words with the first apart.
    [[nodiscard]] static datatype::LayoutPointer make_apart(std::size_t words);
    /// Two words with a hole after each.
    [[nodiscard]] const datatype::Layout* spread() const noexcept { return spread_.get(); }

    // What ranks report while they run.
    // Where somebody dies the ledger, which knows how things should be, is not asked.
    void calling(Rank& rank, std::size_t step)
    {
        if (!program_.somebody_dies()) {
            ledger_.calling(rank, step);
        }
    }
    void called(Rank& rank, std::size_t step)
    {
        if (!program_.somebody_dies()) {
            ledger_.called(rank, step);
        }
    }
    void keys_set(const Rank& rank, const Step& step) { ledger_.keys_set(rank, step); }
    void completed(Rank& rank, std::size_t step);
    void scan(int rank)
    {
        if (!program_.somebody_dies()) {
            ledger_.scan(rank);
        }
    }
    /// The part of that which is about lock queues.
    void see_places(int rank)
    {
        if (!program_.somebody_dies()) {
            ledger_.see_places(rank);
        }
    }
    void trace(int rank, const char* event, long first = 0, long second = 0)
    {
        network_.trace().record(network_.now(), rank, event, first, second);
    }
    void meet(int rank, std::uint64_t number);
    [[nodiscard]] bool someone_is_dead() const noexcept
    {
        return program_.somebody_dies() && network_.now() >= program_.dies_at;
    }
    [[nodiscard]] bool met(std::uint64_t number) const noexcept;

private:
    /// All ranks are one process, so that every address is the same everywhere: a file for each
    /// block, which is mapped where the block is. Nothing depends on its address, so that a run can
    /// be had again.
    class PeerMemory final : public fabric::PeerMemory {
    public:
        explicit PeerMemory(World& world) : world_(world) {}
        /// Of a block that has an index.
        [[nodiscard]] FileRange place(std::size_t index, const std::byte* base,
                                      std::size_t bytes) const noexcept;
        void add(std::byte* block) { files_.push_back(block); }
        std::byte* make(std::size_t bytes, FileRange& where) noexcept override;
        void destroy(std::byte* data, const FileRange& where) noexcept override;
        std::byte* map(const FileRange& range) noexcept override;
        void unmap(std::byte* /*data*/, const FileRange& /*range*/) noexcept override {}

    private:
        World& world_;
        std::vector<std::byte*> files_; ///< whose blocks they are: first those that have an index
        std::unordered_map<std::byte*, Block> made_;
        std::vector<Block> destroyed_; ///< peers may have them mapped
    };
    /// Memory of another rank on the node, copied to and from at once. `memory`: the address that
    /// accesses count from.
    class Copied final : public fabric::RemoteMemory {
    public:
        Copied(World& world, int rank, std::uintptr_t memory) noexcept
            : RemoteMemory({.among_others = world.program().copied_from,
                            .alone = 0,
                            .piece = world.program().copied_from / 4},
                           true),
              world_(world),
              rank_(rank),
              memory_(memory)
        {}
        fabric::Access put(std::span<const fabric::AccessPiece> pieces,
                           fabric::Completion& done) noexcept override;
        fabric::Access get(std::span<const fabric::AccessPiece> pieces,
                           fabric::Completion& done) noexcept override;

    private:
        void count() noexcept;

        World& world_;
        int rank_; ///< who copies
        std::uintptr_t memory_;
    };
    [[nodiscard]] fabric::RemoteMemory* open_memory(int window, int rank, int target);
    /// The members of a window as a rank sees them: the memory of its own node is mapped, that of
    /// others is not.
    class Members final : public rma::Members {
    public:
        Members(World& world, int window, int rank) : world_(world), window_(window), rank_(rank) {}
        Status find(int rank, rma::Member& found) noexcept override;
        [[nodiscard]] bool has_ended(int rank) noexcept override
        {
            return world_.network_.dead(rank);
        }
        [[nodiscard]] fabric::RemoteMemory* process_memory(int rank) noexcept override;

    private:
        World& world_;
        int window_;
        int rank_;
        std::vector<std::unique_ptr<fabric::RemoteMemory>> processes_;
    };
    /// All memory of a rank, read and written at once by another one.
    class ProcessMemory final : public fabric::RemoteMemory {
    public:
        ProcessMemory(World& world, int visitor, int rank) noexcept
            : RemoteMemory({}, true), world_(world), visitor_(visitor), rank_(rank)
        {}
        fabric::Access put(std::span<const fabric::AccessPiece> pieces,
                           fabric::Completion& done) noexcept override;
        fabric::Access get(std::span<const fabric::AccessPiece> pieces,
                           fabric::Completion& done) noexcept override;

    private:
        /// Moves the bytes of one piece.
        using Move = void(const fabric::AccessPiece& piece);
        fabric::Access visit(std::span<const fabric::AccessPiece> pieces, Move* move) noexcept;

        World& world_;
        int visitor_;
        int rank_;
    };
    /// While one is at the memory of another, that one goes on, and takes places of its own.
    void let_look(int visitor, int owner);

    [[nodiscard]] std::size_t block_index(int window, int rank) const noexcept
    {
        return static_cast<std::size_t>(window * program_.ranks + rank);
    }
    void create_memory();
    void create_windows(int window);
    void attach_memory(int window, int rank);
    void expose_memory(int window, int rank);
    [[nodiscard]] std::optional<FileRange> place_of(std::size_t block, const std::byte* base,
                                                    std::size_t bytes);
    [[nodiscard]] rma::WindowShape shape(int window, int rank);
    [[nodiscard]] int nodes() const noexcept
    {
        return (program_.ranks + program_.node_size - 1) / program_.node_size;
    }
    void part();
    void check_notebooks();
    void report_deadlock();
    void describe_rank(Rank& rank, std::FILE* out);

    Program program_;
    fabric::sim::Network network_;
    PeerMemory peer_memory_{*this};
    datatype::LayoutPointer word_;
    datatype::LayoutPointer spread_;
    std::vector<Block> memory_;
    std::vector<std::vector<std::uint64_t>> left_behind_; ///< like `memory_`
    std::vector<Block> control_memory_;
    std::vector<rma::Control*> controls_;
    std::vector<std::unique_ptr<rma::BarrierWord>> barriers_;   ///< per window and node
    std::vector<std::unique_ptr<Members>> members_;             ///< per window and rank
    std::vector<std::unique_ptr<fabric::RemoteMemory>> opened_; ///< before it was asked for
    std::vector<std::unique_ptr<fabric::ExposedMemory>> exposed_;
    std::vector<std::size_t> exposed_blocks_; ///< whose memory each of these is
    std::vector<MemberRegions> regions_;      ///< like `memory_`
    std::vector<std::int32_t> everybody_;
    std::vector<std::int32_t> leaders_; ///< of the nodes: their last ranks
    std::vector<std::unique_ptr<Rank>> ranks_;
    int copies_ = 0;
    std::uint64_t batches_before_copies_ = 0;
    std::uint64_t visits_ = 0;
    std::set<int> visiting_; ///< ranks in the middle of a look at the memory of another
    std::uint64_t calls_ = 0;
    std::uint64_t futile_calls_ = 0;
    std::vector<int> meetings_; ///< arrivals at each, of those who do not die
    Ledger ledger_;
    std::string failure_;
};

} // namespace sidelight::sim
