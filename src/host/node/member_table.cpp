// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/member_table.hpp"

#include <cstring>
#include <limits>
#include <numeric>

#include "base/shared_memory.hpp"
#include "host/mpi/table.hpp"
#include "host/node/exchange.hpp"

namespace sidelight::host::node {

namespace {

using mpi::table;

/// MPI counts bytes in an int; a count of this many at once is refused instead.
constexpr std::size_t most_bytes = std::numeric_limits<int>::max();

/// Everybody's bytes in the order of ranks, at the root or at all. Empty on failure.
struct Gathered {
    std::vector<int> counts;
    std::vector<int> offsets;
    std::vector<std::byte> bytes;
    bool worked = false;

    void arrange()
    {
        offsets.resize(counts.size());
        std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
        const auto total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
        worked = total <= most_bytes;
        bytes.resize(worked ? total : 0);
    }
};

int size_of(MPI_Comm comm) noexcept
{
    int size = 0;
    table().Comm_size(comm, &size);
    return size;
}

/// At rank 0.
Gathered gather_at_leader(const NodeSplit& split, std::span<const std::byte> mine)
{
    Gathered all;
    const MPI_Comm comm = split.on_node.get();
    const int count = static_cast<int>(mine.size());
    all.counts.resize(split.leads() ? static_cast<std::size_t>(split.members) : 0);
    bool worked =
        table().Gather(&count, 1, MPI_INT, all.counts.data(), 1, MPI_INT, 0, comm) == MPI_SUCCESS;
    all.arrange();
    worked = table().Gatherv(mine.data(), count, MPI_BYTE, all.bytes.data(), all.counts.data(),
                             all.offsets.data(), MPI_BYTE, 0, comm) == MPI_SUCCESS &&
             worked;
    all.worked = all.worked && worked;
    return all;
}

/// Among leaders.
Gathered gather_among(MPI_Comm comm, std::span<const std::byte> mine)
{
    Gathered all;
    const int count = static_cast<int>(mine.size());
    all.counts.resize(static_cast<std::size_t>(size_of(comm)));
    bool worked =
        table().Allgather(&count, 1, MPI_INT, all.counts.data(), 1, MPI_INT, comm) == MPI_SUCCESS;
    all.arrange();
    worked = all.worked &&
             table().Allgatherv(mine.data(), count, MPI_BYTE, all.bytes.data(), all.counts.data(),
                                all.offsets.data(), MPI_BYTE, comm) == MPI_SUCCESS &&
             worked;
    all.worked = worked;
    return all;
}

std::span<const std::byte> bytes_of(const std::vector<std::byte>& bytes) noexcept { return bytes; }

/// What a leader makes of the records of all nodes, which come node by node.
bool arrange_records(MemberTableDraft& draft, const Gathered& records)
{
    const auto* sent = reinterpret_cast<const MemberRecord*>(records.bytes.data());
    std::uint64_t address_at = 0;
    draft.records.resize(draft.members);
    draft.leaders.resize(records.counts.size());
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

std::optional<MemberTableDraft> gather_member_table(MPI_Comm comm, const NodeSplit& split,
                                                    MemberRecord mine,
                                                    std::span<const std::byte> address)
{
    MemberTableDraft draft;
    draft.members = static_cast<std::size_t>(size_of(comm));
    table().Comm_rank(comm, &mine.rank);
    mine.address_bytes = static_cast<std::uint32_t>(address.size());
    const Gathered records = gather_at_leader(split, std::as_bytes(std::span(&mine, 1)));
    const Gathered addresses = gather_at_leader(split, address);
    bool worked = records.worked && addresses.worked;
    if (split.leads()) {
        const Gathered all_records = gather_among(split.leaders.get(), bytes_of(records.bytes));
        Gathered all_addresses = gather_among(split.leaders.get(), bytes_of(addresses.bytes));
        draft.addresses = std::move(all_addresses.bytes);
        worked = worked && all_records.worked && all_addresses.worked &&
                 arrange_records(draft, all_records);
    }
    std::uint64_t measures[2] = {draft.nodes, draft.address_bytes};
    worked =
        table().Bcast(measures, 2, MPI_UINT64_T, 0, split.on_node.get()) == MPI_SUCCESS && worked;
    draft.nodes = measures[0];
    draft.address_bytes = measures[1];
    return agree(comm, worked) ? std::optional(std::move(draft)) : std::nullopt;
}

} // namespace sidelight::host::node
