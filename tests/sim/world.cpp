// SPDX-License-Identifier: BSD-3-Clause
#include "world.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <optional>
#include <utility>

#include "rma/engine/window_parts.hpp"
#include "survivors.hpp"

namespace sidelight::sim {

namespace {

/// What a rank's memory holds when it is no window's any more.
constexpr std::uint64_t other_use = 0xfeedfacefeedfaceU;

/// A run of so many events per step of a script cannot come to an end any more.
constexpr std::uint64_t events_per_step = 100'000;

/// Where a block begins in its file. Files are mapped in parts that end at multiples of 64 MB:
/// here one does within all but the smallest blocks.
constexpr std::uint64_t first_offset = (std::uint64_t{64} << 20) - 128;

} // namespace

Block allocate_block(std::size_t bytes)
{
    const std::size_t rounded = (bytes + 63) / 64 * 64;
    Block block(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
    std::memset(block.get(), 0, rounded);
    return block;
}

World::World(const Program& program)
    : program_(program), network_(program.ranks, program.costs, program.seed), ledger_(*this)
{
    word_ = make_word();
    datatype::LayoutBuilder builder;
    builder.append_block(0, 8, datatype::Basic::u64);
    builder.replicate(2, 16);
    spread_ = builder.finish(0, 32);

    create_memory();
    for (int rank = 0; rank < program_.ranks; ++rank) {
        ranks_.push_back(std::make_unique<Rank>(*this, rank, program_.script(rank)));
        ranks_.back()->process().set_messages(program_.node_size < program_.ranks ||
                                              program_.carried || program_.dynamic);
        ranks_.back()->process().set_credit(program_.credit);
        ranks_.back()->process().expect_threads(program_.threaded, program_.threaded);
        network_.attach(rank, *ranks_.back());
    }
    for (int window = 0; window < program_.windows; ++window) {
        create_windows(window);
    }
    if (!program_.somebody_dies()) {
        network_.observe(&ledger_);
        return;
    }
    for (int rank = 0; rank < program_.ranks; ++rank) {
        if (program_.dies(rank)) {
            network_.kill(rank, program_.dies_at);
        }
    }
}

datatype::LayoutPointer World::make_word()
{
    datatype::LayoutBuilder builder;
    builder.append_block(0, 8, datatype::Basic::u64);
    return builder.finish(0, 8);
}

datatype::LayoutPointer World::make_apart(std::size_t words)
{
    constexpr std::size_t size = sizeof(std::uint64_t);
    datatype::LayoutBuilder builder;
    builder.append_block(0, size, datatype::Basic::u64);
    builder.append_block(2 * size, (words - 1) * size, datatype::Basic::u64);
    return builder.finish(0, static_cast<std::ptrdiff_t>((words + 1) * size));
}

/// A run that failed leaves operations behind, which hold the datatypes.
World::~World()
{
    ranks_.clear();
    for (const datatype::Layout* layout : {word(), spread()}) {
        while (layout->references > 1) {
            datatype::release(layout);
        }
    }
}

void World::create_memory()
{
    const auto members = static_cast<std::size_t>(program_.ranks);
    for (int rank = 0; rank < program_.ranks; ++rank) {
        everybody_.push_back(rank);
    }
    for (int node = 0; node < nodes(); ++node) {
        leaders_.push_back(std::min((node + 1) * program_.node_size, program_.ranks) - 1);
    }
    for (int window = 0; window < program_.windows; ++window) {
        for (int node = 0; node < nodes(); ++node) {
            barriers_.push_back(std::make_unique<rma::BarrierWord>());
        }
        for (int rank = 0; rank < program_.ranks; ++rank) {
            left_behind_.emplace_back();
            regions_.emplace_back();
            memory_.push_back(allocate_block(program_.cells * sizeof(std::uint64_t)));
            peer_memory_.add(memory_.back().get());
            control_memory_.push_back(allocate_block(rma::Control::bytes(members)));
            controls_.push_back(rma::Control::create(control_memory_.back().get()));
        }
    }
}

void World::create_windows(int window)
{
    for (int rank = 0; rank < program_.ranks; ++rank) {
        ranks_[static_cast<std::size_t>(rank)]->create_window(shape(window, rank));
        if (program_.dynamic) {
            attach_memory(window, rank);
        }
        if (program_.handles) {
            expose_memory(window, rank);
        }
        if (program_.counters != 0 &&
            this->rank(rank).window(window).parts().counters.set(
                static_cast<std::uint32_t>(program_.counters)) != Status::ok) {
            fail(rank, "there is no memory for counters");
        }
    }
}

void World::take_back(int window, int rank)
{
    std::uint64_t* cells = memory(window, rank);
    left_behind_[block_index(window, rank)].assign(cells, cells + program_.cells);
    std::fill_n(cells, program_.cells, other_use);
    for (std::size_t at = 0; at < exposed_.size(); ++at) {
        if (exposed_blocks_[at] == block_index(window, rank)) {
            network_.endpoint(rank).conceal(*exposed_[at]);
        }
    }
}

bool World::left_alone(int window, int rank) noexcept
{
    const std::uint64_t* cells = memory(window, rank);
    return std::all_of(cells, cells + program_.cells,
                       [](std::uint64_t cell) { return cell == other_use; });
}

/// In regions that touch, of which neighbours can map some.
void World::attach_memory(int window, int rank)
{
    std::vector<std::size_t> borders = program_.borders;
    borders.push_back(program_.cells);
    std::sort(borders.begin(), borders.end());
    std::size_t first = 0;
    for (const std::size_t border : borders) {
        if (border <= first) {
            continue;
        }
        attach(window, rank, first, border - first);
        first = border;
    }
}

std::optional<FileRange> World::place_of(std::size_t block, const std::byte* base,
                                         std::size_t bytes)
{
    if (program_.carried || random().chance(program_.unmapped_percent)) {
        return std::nullopt;
    }
    return peer_memory_.place(block, base, bytes);
}

/// All of it, twice: what was released has the place of what comes.
void World::expose_memory(int window, int rank)
{
    auto* base = reinterpret_cast<std::byte*>(memory(window, rank));
    const std::size_t bytes = program_.cells * sizeof(std::uint64_t);
    rma::HandleRegions& of_rank = this->rank(rank).window(window).parts().regions;
    MemberRegions& made = regions(window, rank);
    const bool lasting = random().chance(50);
    const auto expose = [&](rma::RegionName& name) {
        return of_rank.expose(base, bytes, place_of(block_index(window, rank), base, bytes),
                              lasting, name) == Status::ok;
    };
    const bool past = expose(made.past) && of_rank.withdraw(made.past) == Status::ok;
    const bool present = expose(made.present);
    if (!past || !present || rma::slot_of(made.past) != rma::slot_of(made.present)) {
        fail(rank, "memory cannot be exposed");
    }
}

rma::RegionShape World::region(int window, int rank, bool past) noexcept
{
    const MemberRegions& made = regions(window, rank);
    const std::size_t bytes = program_.cells * sizeof(std::uint64_t);
    return {.name = past ? made.past : made.present,
            .rank = rank,
            .first = reinterpret_cast<std::uint64_t>(memory(window, rank)),
            .all_bytes = bytes,
            .size = bytes,
            .disp_unit = sizeof(std::uint64_t)};
}

void World::attach(int window, int rank, std::size_t first, std::size_t cells)
{
    auto* base = reinterpret_cast<std::byte*>(memory(window, rank) + first);
    const std::size_t bytes = cells * sizeof(std::uint64_t);
    const auto place = place_of(block_index(window, rank), base, bytes);
    if (this->rank(rank).window(window).attach(base, bytes, place) != Status::ok) {
        fail(rank, "memory cannot be attached");
    }
}

FileRange World::PeerMemory::place(std::size_t index, const std::byte* base,
                                   std::size_t bytes) const noexcept
{
    return {{.owner = 1, .descriptor = 1, .inode = index},
            first_offset + static_cast<std::uint64_t>(base - files_[index]),
            bytes};
}

std::byte* World::PeerMemory::make(std::size_t bytes, FileRange& where) noexcept
{
    Block block = allocate_block(bytes);
    std::byte* data = block.get();
    add(data);
    where = place(files_.size() - 1, data, bytes);
    made_.emplace(data, std::move(block));
    return data;
}

void World::PeerMemory::destroy(std::byte* data, const FileRange& /*where*/) noexcept
{
    const auto found = made_.find(data);
    destroyed_.push_back(std::move(found->second));
    made_.erase(found);
}

std::byte* World::PeerMemory::map(const FileRange& range) noexcept
{
    return world_.random().chance(world_.program_.no_map_percent)
               ? nullptr
               : files_[range.file.inode] + static_cast<std::ptrdiff_t>(range.offset) -
                     static_cast<std::ptrdiff_t>(first_offset);
}

std::int64_t World::displacement(int window, const Step& step) noexcept
{
    if (step.named) {
        return static_cast<std::int64_t>(step.call == Call::stray ? counter_cell : step.cell);
    }
    // Behind the last cell nothing is attached.
    const std::size_t cell = step.call == Call::stray ? program_.cells : step.cell;
    return static_cast<std::int64_t>(program_.dynamic ? first_address(window, step.target) +
                                                            cell * sizeof(std::uint64_t)
                                                      : cell);
}

Status World::Members::find(int rank, rma::Member& found) noexcept
{
    const bool dynamic = world_.program_.dynamic;
    found.size = dynamic ? 0 : world_.program_.cells * sizeof(std::uint64_t);
    found.disp_unit = dynamic ? 1 : sizeof(std::uint64_t);
    found.peer = rank;
    if (world_.same_node(rank_, rank)) {
        if ((!world_.program_.carried && !dynamic) || rank == rank_) {
            found.mapped = true;
            found.base =
                dynamic ? nullptr : world_.memory_[world_.block_index(window_, rank)].get();
        }
        found.control = world_.controls_[world_.block_index(window_, rank)];
        found.number = static_cast<std::uint32_t>(rank % world_.program_.node_size);
    }
    if (!found.mapped) {
        found.remote = world_.open_memory(window_, rank_, rank);
    }
    return Status::ok;
}

/// What the kernel or the cards do with the target's memory, as far as that is known from the
/// start.
fabric::RemoteMemory* World::open_memory(int window, int rank, int target)
{
    std::byte* memory = memory_[block_index(window, target)].get();
    fabric::sim::Endpoint& card = network_.endpoint(rank);
    if (same_node(rank, target)) {
        if (!program_.copied) {
            return nullptr;
        }
        opened_.push_back(std::make_unique<Copied>(
            *this, rank, program_.dynamic ? 0 : reinterpret_cast<std::uintptr_t>(memory)));
    } else if (program_.opened && !program_.dynamic && card.accesses(target)) {
        exposed_.push_back(std::make_unique<fabric::ExposedMemory>());
        exposed_blocks_.push_back(block_index(window, target));
        fabric::ExposedMemory& exposed = *exposed_.back();
        network_.endpoint(target).expose({memory, program_.cells * sizeof(std::uint64_t)}, exposed);
        opened_.push_back(card.open(target, std::span(exposed.key).first(exposed.key_bytes)));
    } else {
        return nullptr;
    }
    return opened_.back().get();
}

void World::Copied::count() noexcept
{
    if (world_.copies_++ == 0) {
        world_.batches_before_copies_ = world_.network_.endpoint(rank_).batches();
    }
}

/// One copy in a few fails, and messages do it.
fabric::Access World::Copied::put(std::span<const fabric::AccessPiece> pieces,
                                  fabric::Completion& /*done*/) noexcept
{
    count();
    if (world_.random().chance(10)) {
        return fabric::Access::failed;
    }
    for (const fabric::AccessPiece& piece : pieces) {
        std::memcpy(reinterpret_cast<void*>(memory_ + piece.there), piece.here, piece.bytes);
    }
    return fabric::Access::complete;
}

fabric::Access World::Copied::get(std::span<const fabric::AccessPiece> pieces,
                                  fabric::Completion& /*done*/) noexcept
{
    count();
    for (const fabric::AccessPiece& piece : pieces) {
        std::memcpy(piece.here, reinterpret_cast<void*>(memory_ + piece.there), piece.bytes);
    }
    return fabric::Access::complete;
}

/// But for one that visits somebody itself: it is in the middle of a look.
void World::let_look(int visitor, int owner)
{
    see_places(visitor);
    if (!visiting_.contains(owner)) {
        const bool is_first = visiting_.insert(visitor).second;
        rank(owner).look();
        if (is_first) {
            visiting_.erase(visitor);
        }
        see_places(owner);
    }
}

fabric::RemoteMemory* World::Members::process_memory(int rank) noexcept
{
    if (world_.program_.unreadable || !world_.same_node(rank_, rank)) {
        return nullptr;
    }
    if (world_.random().chance(30)) {
        world_.let_look(rank_, rank);
    }
    processes_.resize(static_cast<std::size_t>(world_.program_.ranks));
    auto& memory = processes_[static_cast<std::size_t>(rank)];
    if (memory == nullptr) {
        memory = std::make_unique<ProcessMemory>(world_, rank_, rank);
    }
    return memory.get();
}

fabric::Access World::ProcessMemory::put(std::span<const fabric::AccessPiece> pieces,
                                         fabric::Completion& /*done*/) noexcept
{
    return visit(pieces, [](const fabric::AccessPiece& piece) {
        std::memcpy(reinterpret_cast<void*>(piece.there), piece.here, piece.bytes);
    });
}

fabric::Access World::ProcessMemory::get(std::span<const fabric::AccessPiece> pieces,
                                         fabric::Completion& /*done*/) noexcept
{
    return visit(pieces, [](const fabric::AccessPiece& piece) {
        std::memcpy(piece.here, reinterpret_cast<void*>(piece.there), piece.bytes);
    });
}

/// Some of it fails, half done, as where the process has ended. While it goes on its owner, if that
/// is in a call, looks what has become of its epochs: before, in the middle, or not at all.
fabric::Access World::ProcessMemory::visit(std::span<const fabric::AccessPiece> pieces,
                                           Move* move) noexcept
{
    ++world_.visits_;
    const bool fails =
        world_.network_.dead(rank_) || world_.random().chance(world_.program_.failing_visits);
    const std::size_t pause = world_.random().below(2 * pieces.size() + 1);
    for (std::size_t index = 0; index < pieces.size(); ++index) {
        if (index == pause) {
            world_.let_look(visitor_, rank_);
        }
        if (fails && index == pieces.size() / 2) {
            return fabric::Access::failed;
        }
        move(pieces[index]);
    }
    return fabric::Access::complete;
}

rma::WindowShape World::shape(int window, int rank)
{
    const int node = rank / program_.node_size;
    const int first = node * program_.node_size;
    const int count = std::min(program_.node_size, program_.ranks - first);
    members_.push_back(std::make_unique<Members>(*this, window, rank));
    rma::WindowShape shape;
    shape.id = static_cast<std::uint64_t>(window + first_window_id);
    shape.rank = rank;
    shape.size = program_.ranks;
    shape.members = members_.back().get();
    shape.neighbours =
        std::span(everybody_)
            .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    shape.barrier = {.word = barriers_[static_cast<std::size_t>(window * nodes() + node)].get(),
                     .node = static_cast<std::uint32_t>(node),
                     .leaders = leaders_};
    if (program_.dynamic) {
        shape.flavor = rma::Flavor::dynamic;
    } else if (nodes() == 1 && !program_.carried) {
        shape.flavor = program_.shared ? rma::Flavor::shared : rma::Flavor::allocate;
    }
    if (!program_.reorder.empty()) {
        shape.reorder = program_.reorder[static_cast<std::size_t>(rank)];
    }
    shape.no_exclusive_locks = program_.no_exclusive_locks;
    shape.early_return = program_.early_bytes;
    shape.offers = true;
    return shape;
}

bool World::run()
{
    std::uint64_t steps = 0;
    for (const Script& script : program_.scripts) {
        steps += script.size();
    }
    for (int rank = 0; rank < program_.ranks; ++rank) {
        network_.schedule(rank, random().below(program_.step_time));
    }
    while (failure_.empty() && network_.step()) {
        if (network_.events() > events_per_step * (steps + 1)) {
            fail(-1, "the run never ends");
        }
    }
    report_deadlock();
    if (network_.violations() != 0 && !program_.somebody_dies()) {
        fail(-1, "a card was told to access memory that was not exposed");
    }
    if (failure_.empty()) {
        program_.somebody_dies() ? check_survivors(*this) : ledger_.finish();
    }
    if (failure_.empty() && program_.traced && !program_.somebody_dies()) {
        check_notebooks();
    }
    if (failure_.empty()) {
        part();
    }
    return failure_.empty();
}

/// Before a network may be closed, everybody has heard that all it has sent has arrived.
void World::part()
{
    for (const auto& rank : ranks_) {
        rank->process().say_farewell();
    }
    while (network_.step()) {
    }
    for (const auto& rank : ranks_) {
        if (!rank->process().has_parted() && !network_.dead(rank->number())) {
            fail(rank->number(), "a farewell is not answered");
        }
    }
}

void World::check_notebooks()
{
    for (const auto& rank : ranks_) {
        const Notebook& notebook = rank->notebook();
        bool any_window = false;
        for (int window = 0; window < program_.windows; ++window) {
            any_window = any_window || rank->has_window(window);
        }
        if (notebook.wrong() != nullptr) {
            fail(rank->number(), notebook.wrong());
        } else if (!any_window && notebook.unfinished() != 0) {
            fail(rank->number(), "the trace has no end of an epoch");
        }
    }
}

void World::report_deadlock()
{
    for (const auto& rank : ranks_) {
        if (!rank->finished() && !network_.dead(rank->number())) {
            fail(rank->number(), "deadlock: nothing is left to happen, and the rank still waits");
        }
    }
}

void World::fail(int rank, const char* what)
{
    if (failure_.empty()) {
        failure_ = what;
        trace(rank, "FAILURE");
    }
}

void World::completed(Rank& rank, std::size_t step)
{
    trace(rank.number(), "request complete", static_cast<long>(step));
    if (!program_.somebody_dies()) {
        ledger_.completed(rank, step);
    }
}

void World::meet(int rank, std::uint64_t number)
{
    meetings_.resize(std::max(meetings_.size(), static_cast<std::size_t>(number)));
    meetings_[number - 1] += program_.somebody_dies() && program_.dies(rank) ? 0 : 1;
    if (met(number)) {
        for (int other = 0; other < program_.ranks; ++other) {
            network_.schedule(other, network_.now() + program_.costs.latency);
        }
    }
}

bool World::met(std::uint64_t number) const noexcept
{
    const int dying = program_.somebody_dies() ? program_.node_size : 0;
    return meetings_[number - 1] >= program_.ranks - dying; // who dies is not waited for
}

void World::describe_rank(Rank& rank, std::FILE* out)
{
    const char* at = rank.finished() ? "its end" : name(rank.script()[rank.position()].call);
    std::fprintf(out, "rank %d: at step %zu, %s\n", rank.number(), rank.position(), at);
    for (int window = 0; window < program_.windows; ++window) {
        if (!rank.has_window(window)) {
            continue;
        }
        rank.window(window).describe(
            [](void* context, const char* line) {
                std::fprintf(static_cast<std::FILE*>(context), "    %s\n", line);
            },
            out);
    }
}

void World::report(std::FILE* out)
{
    std::fprintf(out, "seed %" PRIu64 ": %d ranks, %d to a node, %d windows: %s\n", program_.seed,
                 program_.ranks, program_.node_size, program_.windows, failure_.c_str());
    network_.trace().print(out);
    for (const auto& rank : ranks_) {
        describe_rank(*rank, out);
    }
    std::fprintf(out, "replay: SIDELIGHT_SIM_SEED=%" PRIu64 "\n", program_.seed);
}

} // namespace sidelight::sim
