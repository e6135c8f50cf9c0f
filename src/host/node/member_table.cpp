// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/member_table.hpp"

#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>

#include "base/bytes.hpp"
#include "base/shared_memory.hpp"
#include "host/mpi/table.hpp"
#include "host/node/exchange.hpp"

namespace sidelight::host::node {

namespace {

using mpi::table;

/// MPI counts bytes in an int; a count of this many at once is refused instead.
constexpr std::size_t most_bytes = std::numeric_limits<int>::max();

int size_of(MPI_Comm comm) noexcept
{
    int size = 0;
    table().Comm_size(comm, &size);
    return size;
}

/// Everybody's bytes in the order of ranks. Room is made before any of them is sent.
struct Gathered {
    std::vector<int> counts;
    std::vector<int> offsets;
    std::vector<std::byte> bytes;

    /// For what is told by one part of the loads. Throws where it is too much.
    void make_room(const std::vector<MemberTableLoad>& loads, int MemberTableLoad::*part)
    {
        for (const MemberTableLoad& load : loads) {
            counts.push_back(load.*part);
        }
        const auto total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
        if (total > most_bytes) {
            throw std::length_error("a member table of too many bytes");
        }
        offsets.resize(counts.size());
        std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
        bytes.resize(total);
    }
    /// At rank 0.
    [[nodiscard]] bool gather(MPI_Comm comm, std::span<const std::byte> mine) noexcept
    {
        return table().Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, bytes.data(),
                               counts.data(), offsets.data(), MPI_BYTE, 0, comm) == MPI_SUCCESS;
    }
    [[nodiscard]] bool gather_at_all(MPI_Comm comm, std::span<const std::byte> mine) noexcept
    {
        return table().Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE,
                                  bytes.data(), counts.data(), offsets.data(), MPI_BYTE,
                                  comm) == MPI_SUCCESS;
    }
};

/// What comes to a leader: of its node, and of all nodes.
struct Gatherings {
    Gathered records;
    Gathered addresses;

    void make_room(const std::vector<MemberTableLoad>& loads)
    {
        records.make_room(loads, &MemberTableLoad::record_bytes);
        addresses.make_room(loads, &MemberTableLoad::address_bytes);
    }
};

/// All that a leader hears of in advance. A node with too much to say has nothing to say, and fails
/// when it makes room.
bool tell_loads(NodeSplit& split, const MemberTableLoad& mine) noexcept
{
    bool worked = table().Gather(&mine, 2, MPI_INT, split.member_loads.data(), 2, MPI_INT, 0,
                                 split.on_node.get()) == MPI_SUCCESS;
    if (!split.leads()) {
        return worked;
    }
    std::size_t records = 0;
    std::size_t addresses = 0;
    for (const MemberTableLoad& load : split.member_loads) {
        records += static_cast<std::size_t>(load.record_bytes);
        addresses += static_cast<std::size_t>(load.address_bytes);
    }
    const bool few = records <= most_bytes && addresses <= most_bytes;
    const MemberTableLoad node{.record_bytes = few ? static_cast<int>(records) : 0,
                               .address_bytes = few ? static_cast<int>(addresses) : 0};
    return table().Allgather(&node, 2, MPI_INT, split.node_loads.data(), 2, MPI_INT,
                             split.leaders.get()) == MPI_SUCCESS &&
           worked;
}

/// False: memory has run out, or there is too much to say.
bool make_room(MemberTableDraft& draft, Gatherings& node, Gatherings& all,
               const NodeSplit& split) noexcept
{
    try {
        node.make_room(split.member_loads);
        all.make_room(split.node_loads);
        if (split.leads()) {
            draft.records.resize(draft.members);
            draft.leaders.resize(split.node_loads.size());
        }
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

/// What a leader makes of the records of all nodes, which come node by node.
bool arrange_records(MemberTableDraft& draft, const Gathered& records) noexcept
{
    const auto* sent = reinterpret_cast<const MemberRecord*>(records.bytes.data());
    std::uint64_t address_at = 0;
    for (std::size_t node = 0; node < records.counts.size(); ++node) {
        const auto members = static_cast<std::size_t>(records.counts[node]) / sizeof(MemberRecord);
        for (std::size_t index = 0; index < members; ++index) {
            MemberRecord record;
            std::memcpy(&record, sent++, sizeof record);
            record.node = static_cast<std::uint32_t>(node);
            record.index = static_cast<std::uint32_t>(index);
            record.address_at = address_at;
            address_at += record.address_bytes;
            if (static_cast<std::size_t>(record.rank) >= draft.members) {
                return false;
            }
            draft.records[static_cast<std::size_t>(record.rank)] = record;
            if (index == 0) {
                draft.leaders[node] = record.rank;
            }
        }
    }
    draft.nodes = draft.leaders.size();
    draft.address_bytes = draft.addresses.size();
    return address_at == draft.address_bytes;
}

} // namespace

MemberTable::MemberTable(const std::byte* data, std::size_t members, std::size_t nodes) noexcept
    : members_(reinterpret_cast<const MemberRecord*>(data), members),
      leaders_(reinterpret_cast<const std::int32_t*>(data + members * sizeof(MemberRecord)), nodes),
      addresses_(data + bytes(members, nodes, 0))
{}

std::span<const std::byte> MemberTable::address(int rank) const noexcept
{
    const MemberRecord& record = member(rank);
    return {addresses_ + record.address_at, record.address_bytes};
}

std::size_t MemberTable::bytes(std::size_t members, std::size_t nodes,
                               std::size_t address_bytes) noexcept
{
    return round_up(members * sizeof(MemberRecord) + nodes * sizeof(std::int32_t), alignment) +
           address_bytes;
}

void MemberTableDraft::write(std::byte* data) const noexcept
{
    const std::size_t table_bytes = records.size() * sizeof(MemberRecord);
    std::memcpy(data, records.data(), table_bytes);
    std::memcpy(data + table_bytes, leaders.data(), leaders.size() * sizeof(std::int32_t));
    if (!addresses.empty()) {
        std::memcpy(data + MemberTable::bytes(members, nodes, 0), addresses.data(),
                    addresses.size());
    }
}

std::optional<MemberTableDraft> gather_member_table(MPI_Comm comm, NodeSplit& split,
                                                    MemberRecord mine,
                                                    std::span<const std::byte> address) noexcept
{
    MemberTableDraft draft;
    Gatherings node;
    Gatherings all;
    draft.members = static_cast<std::size_t>(size_of(comm));
    table().Comm_rank(comm, &mine.rank);
    mine.address_bytes = static_cast<std::uint32_t>(address.size());
    const bool told = tell_loads(split, {.record_bytes = static_cast<int>(sizeof mine),
                                         .address_bytes = static_cast<int>(address.size())});
    HostExchange members(comm);
    if (!members.agree(told && make_room(draft, node, all, split))) {
        return std::nullopt;
    }
    bool worked = node.records.gather(split.on_node.get(), std::as_bytes(std::span(&mine, 1)));
    worked = node.addresses.gather(split.on_node.get(), address) && worked;
    if (split.leads()) {
        worked = all.records.gather_at_all(split.leaders.get(), node.records.bytes) && worked;
        worked = all.addresses.gather_at_all(split.leaders.get(), node.addresses.bytes) && worked;
        draft.addresses = std::move(all.addresses.bytes);
        worked = worked && arrange_records(draft, all.records);
    }
    std::uint64_t measures[2] = {draft.nodes, draft.address_bytes};
    worked =
        table().Bcast(measures, 2, MPI_UINT64_T, 0, split.on_node.get()) == MPI_SUCCESS && worked;
    draft.nodes = measures[0];
    draft.address_bytes = measures[1];
    return members.agree(worked) ? std::optional(std::move(draft)) : std::nullopt;
}

} // namespace sidelight::host::node
