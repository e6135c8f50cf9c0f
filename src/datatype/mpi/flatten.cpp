// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/mpi/flatten.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "datatype/mpi/contents.hpp"
#include "datatype/mpi/predefined.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::datatype {
namespace {

using host::mpi::table;

/// The type map of a type, and the distance at which copies of it follow one another.
struct Part {
    LayoutBuilder map;
    std::ptrdiff_t extent = 0;
};

bool take_apart(MPI_Datatype type, LayoutBuilder& map);

bool part_of(MPI_Datatype type, Part& part)
{
    MPI_Count lb = 0;
    MPI_Count extent = 0;
    table().Type_get_extent_x(type, &lb, &extent);
    part.extent = static_cast<std::ptrdiff_t>(extent);
    return take_apart(type, part.map);
}

std::size_t amount(std::ptrdiff_t count)
{
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(count, 0));
}

LayoutBuilder block_of(const Part& part, std::ptrdiff_t length)
{
    LayoutBuilder block = part.map;
    block.replicate(amount(length), part.extent);
    return block;
}

LayoutBuilder moved(const LayoutBuilder& map, std::ptrdiff_t offset)
{
    LayoutBuilder result;
    result.append(map, offset);
    return result;
}

/// Blocks of one type; `displacements` in bytes.
LayoutBuilder blocks_of(const Part& part, const std::vector<std::ptrdiff_t>& lengths,
                        const std::vector<std::ptrdiff_t>& displacements)
{
    LayoutBuilder map;
    for (auto first = lengths.begin(); first != lengths.end();) {
        const auto next = std::find_if(first, lengths.end(),
                                       [first](std::ptrdiff_t length) { return length != *first; });
        map.append(block_of(part, *first),
                   std::span(displacements)
                       .subspan(static_cast<std::size_t>(first - lengths.begin()),
                                static_cast<std::size_t>(next - first)));
        first = next;
    }
    return map;
}

void scale(std::vector<std::ptrdiff_t>& displacements, std::ptrdiff_t extent)
{
    for (std::ptrdiff_t& displacement : displacements) {
        displacement *= extent;
    }
}

LayoutBuilder same(Contents&, const Part& part) { return part.map; }

LayoutBuilder contiguous(Contents& contents, const Part& part)
{
    return block_of(part, contents.next_count());
}

LayoutBuilder vector_of(Contents& contents, const Part& part, bool in_bytes)
{
    const std::ptrdiff_t count = contents.next_count();
    LayoutBuilder map = block_of(part, contents.next_count());
    map.replicate(amount(count),
                  in_bytes ? contents.next_address() : contents.next_count() * part.extent);
    return map;
}

LayoutBuilder vector(Contents& contents, const Part& part)
{
    return vector_of(contents, part, false);
}

LayoutBuilder hvector(Contents& contents, const Part& part)
{
    return vector_of(contents, part, true);
}

LayoutBuilder indexed(Contents& contents, const Part& part)
{
    const std::size_t count = amount(contents.next_count());
    const auto lengths = contents.next_counts(count);
    auto displacements = contents.next_counts(count);
    scale(displacements, part.extent);
    return blocks_of(part, lengths, displacements);
}

LayoutBuilder hindexed(Contents& contents, const Part& part)
{
    const std::size_t count = amount(contents.next_count());
    const auto lengths = contents.next_counts(count);
    return blocks_of(part, lengths, contents.next_addresses(count));
}

LayoutBuilder indexed_block(Contents& contents, const Part& part)
{
    const std::size_t count = amount(contents.next_count());
    const std::vector<std::ptrdiff_t> lengths(count, contents.next_count());
    auto displacements = contents.next_counts(count);
    scale(displacements, part.extent);
    return blocks_of(part, lengths, displacements);
}

LayoutBuilder hindexed_block(Contents& contents, const Part& part)
{
    const std::size_t count = amount(contents.next_count());
    const std::vector<std::ptrdiff_t> lengths(count, contents.next_count());
    return blocks_of(part, lengths, contents.next_addresses(count));
}

/// The dimensions of an array from the one whose neighbours are nearest in memory outwards.
std::vector<std::size_t> inside_out(std::size_t dimensions, int order)
{
    std::vector<std::size_t> sequence(dimensions);
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    if (order == MPI_ORDER_C) {
        std::reverse(sequence.begin(), sequence.end());
    }
    return sequence;
}

LayoutBuilder subarray(Contents& contents, const Part& part)
{
    const std::size_t dimensions = amount(contents.next_integer());
    const auto sizes = contents.next_counts(dimensions);
    const auto subsizes = contents.next_counts(dimensions);
    const auto starts = contents.next_counts(dimensions);
    LayoutBuilder map = part.map;
    std::ptrdiff_t stride = part.extent;
    for (const std::size_t d : inside_out(dimensions, contents.next_integer())) {
        map.replicate(amount(subsizes[d]), stride);
        map = moved(map, starts[d] * stride);
        stride *= sizes[d];
    }
    return map;
}

/// One dimension of a distributed array, as one process sees it.
struct Share {
    std::ptrdiff_t size;       ///< of the whole array
    int distribution;          ///< MPI_DISTRIBUTE_*
    int argument;              ///< of the distribution
    std::ptrdiff_t processes;  ///< along the dimension
    std::ptrdiff_t coordinate; ///< of this process
};

std::ptrdiff_t block_length(const Share& share)
{
    if (share.distribution == MPI_DISTRIBUTE_NONE) {
        return share.size;
    }
    if (share.argument != MPI_DISTRIBUTE_DFLT_DARG) {
        return share.argument;
    }
    const bool cyclic = share.distribution == MPI_DISTRIBUTE_CYCLIC;
    return cyclic ? 1 : (share.size + share.processes - 1) / share.processes;
}

/// The slices `stride` apart that belong to this process. A block distribution is a cyclic one that
/// ends after the first round.
LayoutBuilder share_of(const LayoutBuilder& slice, const Share& share, std::ptrdiff_t stride)
{
    const std::ptrdiff_t length = block_length(share);
    const bool whole = share.distribution == MPI_DISTRIBUTE_NONE;
    const std::ptrdiff_t first = whole ? 0 : share.coordinate * length;
    const std::ptrdiff_t round = whole ? length : share.processes * length;
    const std::ptrdiff_t rest = std::max<std::ptrdiff_t>(share.size - first, 0);
    const std::ptrdiff_t rounds = round > 0 ? rest / round : 0;
    const std::ptrdiff_t last = std::min(rest - rounds * round, length);
    // Every round but the last one, which may be cut short, holds a whole block.
    LayoutBuilder blocks = slice;
    blocks.replicate(amount(length), stride);
    blocks.replicate(amount(rounds), round * stride);
    LayoutBuilder tail = slice;
    tail.replicate(amount(last), stride);
    LayoutBuilder map = moved(blocks, first * stride);
    map.append(tail, (first + rounds * round) * stride);
    return map;
}

/// Where a rank is along each dimension; ranks are dealt out with the last dimension fastest.
std::vector<std::ptrdiff_t> coordinates(std::ptrdiff_t rank, const std::vector<int>& processes)
{
    std::vector<std::ptrdiff_t> result(processes.size());
    for (std::size_t d = processes.size(); d-- > 0;) {
        result[d] = rank % processes[d];
        rank /= processes[d];
    }
    return result;
}

LayoutBuilder darray(Contents& contents, const Part& part)
{
    contents.next_integer(); // the number of processes: the product of those per dimension
    const int rank = contents.next_integer();
    const std::size_t dimensions = amount(contents.next_integer());
    const auto sizes = contents.next_counts(dimensions);
    const auto distributions = contents.next_integers(dimensions);
    const auto arguments = contents.next_integers(dimensions);
    const auto processes = contents.next_integers(dimensions);
    const auto place = coordinates(rank, processes);
    LayoutBuilder map = part.map;
    std::ptrdiff_t stride = part.extent;
    for (const std::size_t d : inside_out(dimensions, contents.next_integer())) {
        map = share_of(map, {sizes[d], distributions[d], arguments[d], processes[d], place[d]},
                       stride);
        stride *= sizes[d];
    }
    return map;
}

/// The one combiner with a type for each block.
bool take_structure_apart(Contents& contents, LayoutBuilder& map)
{
    const std::size_t count = amount(contents.next_count());
    const auto lengths = contents.next_counts(count);
    const auto displacements = contents.next_addresses(count);
    for (std::size_t i = 0; i < count; ++i) {
        Part part;
        if (lengths[i] == 0) {
            continue;
        }
        if (!part_of(contents.types().at(i), part)) {
            return false;
        }
        map.append(block_of(part, lengths[i]), displacements[i]);
    }
    return true;
}

struct Recipe {
    int combiner;
    LayoutBuilder (*make)(Contents& contents, const Part& part);
};

constexpr std::array<Recipe, 11> recipes{{{MPI_COMBINER_DUP, same},
                                          {MPI_COMBINER_RESIZED, same},
                                          {MPI_COMBINER_CONTIGUOUS, contiguous},
                                          {MPI_COMBINER_VECTOR, vector},
                                          {MPI_COMBINER_HVECTOR, hvector},
                                          {MPI_COMBINER_INDEXED, indexed},
                                          {MPI_COMBINER_HINDEXED, hindexed},
                                          {MPI_COMBINER_INDEXED_BLOCK, indexed_block},
                                          {MPI_COMBINER_HINDEXED_BLOCK, hindexed_block},
                                          {MPI_COMBINER_SUBARRAY, subarray},
                                          {MPI_COMBINER_DARRAY, darray}}};

bool take_apart(MPI_Datatype type, LayoutBuilder& map)
{
    if (const Layout* layout = layout_of_predefined(type)) {
        map.append(*layout, 0);
        return true;
    }
    const int combiner = combiner_of(type);
    if (is_predefined(combiner)) {
        const Layout* layout = register_further(type, combiner);
        if (layout != nullptr) {
            map.append(*layout, 0);
        }
        return layout != nullptr;
    }
    Contents contents(type);
    if (combiner == MPI_COMBINER_STRUCT) {
        return take_structure_apart(contents, map);
    }
    const auto* recipe = std::find_if(recipes.begin(), recipes.end(), [combiner](const Recipe& r) {
        return r.combiner == combiner;
    });
    Part part;
    if (recipe == recipes.end() || !part_of(contents.type(), part)) {
        return false;
    }
    map = recipe->make(contents, part);
    return true;
}

} // namespace

/// The arguments of its constructors say what a type is, where it has data. The true bounds that a
/// host computes from them are not asked: Open MPI's are wrong for a vector that runs backwards
/// without gaps.
LayoutPointer flatten(MPI_Datatype type, MPI_Count size)
{
    LayoutBuilder map;
    MPI_Count lb = 0;
    MPI_Count extent = 0;
    if (size != 0 && !take_apart(type, map)) {
        return nullptr;
    }
    table().Type_get_extent_x(type, &lb, &extent);
    LayoutPointer layout =
        map.finish(static_cast<std::ptrdiff_t>(lb), static_cast<std::ptrdiff_t>(extent));
    return layout->size == static_cast<std::size_t>(size) ? std::move(layout) : nullptr;
}

} // namespace sidelight::datatype
