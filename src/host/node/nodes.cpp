// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/nodes.hpp"

#include <array>
#include <new>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/digest.hpp"
#include "base/settings.hpp"
#include "base/shared_memory.hpp"
#include "host/mpi/table.hpp"
#include "host/node/cores.hpp"
#include "host/node/exchange.hpp"

namespace sidelight::host::node {

namespace {

using mpi::table;

/// Which kernel this is, since when; empty where it does not say.
class BootIdentity {
public:
    BootIdentity() noexcept
    {
        const File file(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
        const ssize_t bytes = file ? read(file.descriptor(), text_.data(), text_.size()) : 0;
        bytes_ = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    }
    [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), bytes_}; }

private:
    std::array<char, 64> text_{};
    std::size_t bytes_;
};

std::string namespace_identity(const char* path)
{
    struct stat status {};
    return stat(path, &status) == 0 ? std::to_string(status.st_ino) : std::string();
}

/// A color of MPI_Comm_split is an int that is not negative: 31 bits of the identity at a time.
constexpr int color_of(std::uint64_t node, int step) noexcept
{
    return static_cast<int>(node >> (31 * step) & 0x7FFFFFFF);
}
constexpr int color_steps = 3;

bool split(MPI_Comm comm, int color, OwnedCommunicator& part) noexcept
{
    int rank = 0;
    return table().Comm_rank(comm, &rank) == MPI_SUCCESS &&
           table().Comm_split(comm, color, rank, part.address()) == MPI_SUCCESS;
}

/// Color by color: two nodes may have 31 bits in common.
bool split_by_identity(MPI_Comm comm, std::uint64_t node, OwnedCommunicator& on_node) noexcept
{
    for (int step = 0; step < color_steps; ++step) {
        const MPI_Comm from = step == 0 ? comm : on_node.get();
        OwnedCommunicator part;
        if (!split(from, color_of(node, step), part)) {
            return false;
        }
        on_node = std::move(part);
        HostExchange together(on_node.get());
        if (survey(together, {.node = node, .yes = true}).one_node) {
            return true;
        }
    }
    return false;
}

} // namespace

std::uint64_t node_identity()
{
    static const std::uint64_t found = [] {
        utsname system{};
        uname(&system);
        return digest(std::string(BootIdentity().text()) + namespace_identity("/proc/self/ns/pid") +
                      ' ' + namespace_identity("/proc/self/ns/ipc") + ' ' + system.nodename);
    }();
    return found;
}

Survey survey(Exchange& members, const SurveyAnswer& mine) noexcept
{
    // The smallest of each: of a number and of its complement, they say whether all are equal.
    const std::array<std::uint64_t, 10> said{mine.node,
                                             ~mine.node,
                                             mine.yes ? 1U : 0U,
                                             mine.knows ? 1U : 0U,
                                             mine.keeps ? 1U : 0U,
                                             ~static_cast<std::uint64_t>(mine.wrong),
                                             mine.no_exclusive_locks ? 1U : 0U,
                                             mine.active_at_target ? 0U : 1U,
                                             static_cast<std::uint64_t>(mine.mapped),
                                             mine.of_world ? 1U : 0U};
    std::array<std::uint64_t, said.size()> least{};
    if (!members.find_least(said, least)) {
        return {};
    }
    return {.reached = true,
            .worked = least[2] == 1,
            .one_node = least[0] == ~least[1],
            .all_know = least[3] == 1,
            .all_keep = least[4] == 1,
            .no_exclusive_locks = least[6] == 1,
            .active_at_target = least[7] == 0,
            .of_world = least[9] == 1,
            .mapped = static_cast<CanBeMapped>(least[8]),
            .wrong = static_cast<Status>(~least[5])};
}

OwnedCommunicator::~OwnedCommunicator()
{
    if (comm_ != MPI_COMM_NULL) {
        table().Comm_free(&comm_);
    }
}

namespace {

/// False: memory has run out.
bool make_room_for_member_table(NodeSplit& split) noexcept
{
    int nodes = 0;
    if (!split.leads()) {
        return true;
    }
    table().Comm_size(split.leaders.get(), &nodes);
    try {
        split.member_loads.resize(static_cast<std::size_t>(split.members));
        split.node_loads.resize(static_cast<std::size_t>(nodes));
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

} // namespace

std::optional<NodeSplit> split_by_node(MPI_Comm comm, std::uint64_t node) noexcept
{
    NodeSplit result;
    result.node = node;
    const bool together = split_by_identity(comm, node, result.on_node);
    HostExchange all(comm);
    if (!all.agree(together)) {
        return std::nullopt;
    }
    table().Comm_rank(result.on_node.get(), &result.index);
    table().Comm_size(result.on_node.get(), &result.members);
    const bool led = split(comm, result.leads() ? 0 : MPI_UNDEFINED, result.leaders);
    if (!all.agree(led && make_room_for_member_table(result))) {
        return std::nullopt;
    }
    return result;
}

bool host_can_share(MPI_Comm comm) noexcept
{
    OwnedCommunicator together;
    int sharing = 0;
    int members = 0;
    return table().Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                   together.address()) == MPI_SUCCESS &&
           table().Comm_size(together.get(), &sharing) == MPI_SUCCESS &&
           table().Comm_size(comm, &members) == MPI_SUCCESS && sharing == members;
}

int count_on_cores(MPI_Comm comm, std::uint64_t node) noexcept
{
    const BootIdentity kernel;
    const std::array<std::uint64_t, 2> cores{kernel.text().empty() ? node : digest(kernel.text()),
                                             core_set()};
    OwnedCommunicator together;
    int members = 1;
    if (split_by_identity(comm, digest({reinterpret_cast<const char*>(cores.data()), sizeof cores}),
                          together)) {
        table().Comm_size(together.get(), &members);
    }
    return members;
}

} // namespace sidelight::host::node
