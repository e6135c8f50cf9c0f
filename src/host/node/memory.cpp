// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include <sys/resource.h>
#include <sys/select.h>

#include "base/bytes.hpp"
#include "base/log.hpp"
#include "base/system_limits.hpp"
#include "host/memory_limit.hpp"
#include "host/node/cores.hpp"

namespace sidelight::host::node {
namespace {

constexpr std::size_t cache_line = 64;

bool add(std::size_t& sum, std::size_t more) noexcept
{
    return !__builtin_add_overflow(sum, more, &sum);
}

/// Maps the file of rank 0, which `file` is there, and becomes elsewhere. Empty on failure.
Mapping map_file(File& file, const MemoryFileAddress& address, std::size_t total,
                 std::size_t alignment) noexcept
{
    if (!file) {
        file = open_memory_file(address);
    }
    return file ? Mapping::shared(file, total, alignment) : Mapping();
}

/// Open where there are descriptors to spare: a new one has the lowest number that is free. What
/// the program opens next stays below 1024, which is all that select() can name.
HeldFile keep_open(File file) noexcept
{
    constexpr rlim_t part = 4;
    constexpr rlim_t most = FD_SETSIZE / part;
    rlimit limit{};
    const bool may_stay =
        getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        static_cast<rlim_t>(file.descriptor()) < std::min(limit.rlim_cur / part, most);
    return may_stay ? HeldFile(std::move(file)) : HeldFile();
}

bool all_usable(const std::vector<MemoryCard>& cards) noexcept
{
    return std::all_of(cards.begin(), cards.end(),
                       [](const MemoryCard& card) { return card.usable; });
}

int count_neighbours(const std::vector<MemoryCard>& cards, std::uint64_t core_set) noexcept
{
    return static_cast<int>(std::count_if(cards.begin(), cards.end(), [=](const MemoryCard& card) {
        return card.core_set == core_set;
    }));
}

Placement agreed_placement(const std::vector<MemoryCard>& cards) noexcept
{
    const bool pages = std::all_of(cards.begin(), cards.end(), [](const MemoryCard& card) {
        return card.placement == Placement::pages;
    });
    return pages ? Placement::pages : Placement::contiguous;
}

std::size_t largest_alignment(const std::vector<MemoryCard>& cards) noexcept
{
    std::size_t largest = 1;
    for (const MemoryCard& card : cards) {
        largest = std::max<std::size_t>(largest, card.alignment);
    }
    return largest;
}

/// Whether all have the same spare memory, and it is large enough.
bool fits(const SpareMemory::Taken& spare, const std::vector<MemoryCard>& cards,
          const MemoryPlan& plan, std::size_t alignment) noexcept
{
    return spare.window != 0 && alignment <= page_size() &&
           plan.total <= spare.mapped.mapping.bytes() &&
           std::all_of(cards.begin(), cards.end(),
                       [&](const MemoryCard& card) { return card.spare == spare.window; });
}

std::optional<NodeMemory> allocate_alone(const MemoryShape& mine, MemoryRoom room) noexcept
{
    room.sizes.front() = mine.window_bytes;
    MemoryPlan plan = plan_memory(mine, room.sizes, std::move(room.bases));
    Mapping mapping =
        plan.bases.empty() ? Mapping() : Mapping::anonymous(plan.total, mine.alignment);
    if (!mapping) {
        return std::nullopt;
    }
    return NodeMemory({std::move(mapping), HeldFile()}, std::move(plan), std::move(room.sizes), 1);
}

} // namespace

MemoryRoom::MemoryRoom(std::size_t members) : cards(members), sizes(members)
{
    bases.reserve(members);
}

void MemoryRoom::shrink(std::size_t members) noexcept
{
    cards.resize(std::min(members, cards.size()));
    sizes.resize(std::min(members, sizes.size()));
}

MemoryPlan plan_memory(const MemoryShape& shape, const std::vector<std::uint64_t>& sizes,
                       std::vector<std::size_t> room)
{
    MemoryPlan plan;
    plan.controls = round_up(shape.common_bytes, cache_line);
    plan.control_stride = round_up(shape.control_bytes, cache_line);
    plan.placement = shape.placement;
    const std::size_t step = std::max(page_size(), shape.alignment);
    std::size_t end = round_up(plan.controls + sizes.size() * plan.control_stride, step);
    std::vector<std::size_t> bases = std::move(room);
    bases.reserve(sizes.size());
    for (const std::uint64_t size : sizes) {
        bases.push_back(end);
        constexpr std::size_t limit = std::numeric_limits<std::ptrdiff_t>::max();
        if (!add(end, size) || end > limit - step) {
            return plan;
        }
        if (shape.placement == Placement::pages) {
            end = round_up(end, step);
        }
    }
    plan.total = end;
    plan.bases = std::move(bases);
    return plan;
}

void NodeMemory::clear(int index) noexcept
{
    if (index == 0) {
        std::memset(common(), 0, plan_.controls);
    }
    std::memset(control(index), 0, plan_.control_stride);
    std::memset(base(index), 0, size(index));
}

void SpareMemory::put(std::uint64_t window, NodeMemory memory) noexcept
{
    constexpr std::size_t most_spare_bytes = 65536;
    Taken put{.window = window, .mapped = memory.give_up()};
    if (put.mapped.mapping.bytes() <= most_spare_bytes) {
        const std::scoped_lock lock(mutex_);
        std::swap(kept_, put);
    }
}

SpareMemory::Taken SpareMemory::take() noexcept
{
    const std::scoped_lock lock(mutex_);
    return std::exchange(kept_, {});
}

NodeMemory::NodeMemory(MappedFile mapped, MemoryPlan plan, std::vector<std::uint64_t> sizes,
                       int neighbours) noexcept
    : mapped_(std::move(mapped)),
      plan_(std::move(plan)),
      sizes_(std::move(sizes)),
      neighbours_(neighbours)
{}

std::byte* NodeMemory::control(int rank) const noexcept
{
    return mapped_.mapping.data() + plan_.controls +
           static_cast<std::size_t>(rank) * plan_.control_stride;
}

std::byte* NodeMemory::base(int rank) const noexcept
{
    return mapped_.mapping.data() + plan_.bases[static_cast<std::size_t>(rank)];
}

std::size_t NodeMemory::size(int rank) const noexcept
{
    return sizes_[static_cast<std::size_t>(rank)];
}

std::optional<NodeMemory> allocate_node_memory(Exchange& members, const MemoryShape& mine,
                                               MemoryRoom room, SpareMemory::Taken spare) noexcept
{
    const int count = members.members();
    room.shrink(static_cast<std::size_t>(count));
    if (count == 1) {
        return allocate_alone(mine, std::move(room));
    }
    const bool makes_file = members.index() == 0 && spare.window == 0;
    File file = makes_file ? create_memory_file() : File();
    if (makes_file && !file) {
        log(LogLevel::warn, "cannot make a file of memory: %s", reason_of(errno).c_str());
    }
    Reservation own_part(mine.window_bytes);
    if (!own_part.is_granted()) {
        log(LogLevel::warn, "cannot have %zu bytes: %s", mine.window_bytes,
            reason_of(ENOMEM).c_str());
    }
    const MemoryCard card{.core_set = core_set(),
                          .window_bytes = mine.window_bytes,
                          .alignment = mine.alignment,
                          .file = address_of(file),
                          .spare = spare.window,
                          .placement = mine.placement,
                          .usable = own_part.is_granted() && makes_file == static_cast<bool>(file)};
    if (!members.exchange(card, room.cards) || !all_usable(room.cards)) {
        return std::nullopt;
    }
    own_part.give_up(); // all have asked
    std::transform(room.cards.begin(), room.cards.end(), room.sizes.begin(),
                   [](const MemoryCard& one) { return one.window_bytes; });
    MemoryShape all = mine;
    all.alignment = largest_alignment(room.cards);
    all.placement = agreed_placement(room.cards);
    MemoryPlan plan = plan_memory(all, room.sizes, std::move(room.bases));
    if (plan.bases.empty()) {
        return std::nullopt;
    }
    if (fits(spare, room.cards, plan, all.alignment)) {
        NodeMemory memory(std::move(spare.mapped), std::move(plan), std::move(room.sizes),
                          count_neighbours(room.cards, card.core_set));
        memory.clear(members.index());
        return memory;
    }
    if (room.cards.front().spare != 0) { // rank 0 has made no file
        room.bases = std::move(plan.bases);
        room.bases.clear();
        return allocate_node_memory(members, mine, std::move(room));
    }
    // Rank 0 keeps its descriptor until everybody has said whether the file is mapped.
    Mapping mapping = map_file(file, room.cards.front().file, plan.total, all.alignment);
    if (!mapping) {
        log(LogLevel::warn, "cannot map %zu bytes of shared memory: %s", plan.total,
            reason_of(errno).c_str());
    }
    if (!members.agree(static_cast<bool>(mapping))) {
        return std::nullopt;
    }
    return NodeMemory({std::move(mapping), keep_open(std::move(file))}, std::move(plan),
                      std::move(room.sizes), count_neighbours(room.cards, card.core_set));
}

} // namespace sidelight::host::node
