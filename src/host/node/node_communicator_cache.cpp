// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/node_communicator_cache.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <list>
#include <mutex>
#include <new>

#include "host/mpi/communicator_key.hpp"
#include "host/mpi/progress.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::host::node {
namespace {

using mpi::table;

/// Each takes one or two of the host's communicators, of which some hosts have only two thousand.
constexpr std::size_t most_kept = 64;

/// Found by its handle: the attribute has no value, and tells when that is a communicator's no
/// more.
struct Keeper {
    MPI_Comm comm; ///< MPI_COMM_NULL: what it had is to end
    std::shared_ptr<NodeCommunicators> known;
};

/// Guards the keepers. Held during no call of the host: hosts hold locks of theirs while they call
/// `drop`.
std::mutex mutex;

/// Made at first use, which needs no memory, and never destroyed: MPI may end when this library
/// has.
std::list<Keeper>& keepers() noexcept
{
    using Keepers = std::list<Keeper>;
    alignas(Keepers) static std::array<std::byte, sizeof(Keepers)> place;
    static auto* const made = new (place.data()) Keepers;
    return *made;
}

/// Under the lock.
auto find(MPI_Comm comm) noexcept
{
    return std::find_if(keepers().begin(), keepers().end(),
                        [comm](const Keeper& one) { return one.comm == comm; });
}

void release(MPI_Comm comm) noexcept
{
    const std::scoped_lock lock(mutex);
    if (const auto found = find(comm); found != keepers().end()) {
        found->comm = MPI_COMM_NULL;
    }
}

/// By a thread of the program: it needs the engine to wake others, and frees communicators.
void end_released() noexcept
{
    std::list<Keeper> released;
    {
        const std::scoped_lock lock(mutex);
        for (auto next = find(MPI_COMM_NULL); next != keepers().end(); next = find(MPI_COMM_NULL)) {
            released.splice(released.end(), keepers(), next);
        }
    }
    for (const Keeper& one : released) {
        one.known->in_memory.set({}); // whoever still asks there hears of it
    }
}

extern "C" {

/// In MPICH a freed communicator goes with its last request, in a step of whatever thread.
int drop(MPI_Comm comm, int, void*, void*)
{
    release(comm);
    if (!mpi::is_left_out()) {
        end_released();
    }
    return MPI_SUCCESS;
}

} // extern "C"

/// Each has a key of its own, which goes with the attribute: a common one would have to be freed
/// while another thread may be about to use it.
bool attach(MPI_Comm comm) noexcept
{
    int key = mpi::create_communicator_key(drop);
    if (key == MPI_KEYVAL_INVALID) {
        return false;
    }
    const bool set = table().Comm_set_attr(comm, key, nullptr) == MPI_SUCCESS;
    table().Comm_free_keyval(&key);
    return set;
}

/// Throws std::bad_alloc.
void keep(MPI_Comm comm, const std::shared_ptr<NodeCommunicators>& known)
{
    {
        const std::scoped_lock lock(mutex);
        if (keepers().size() >= most_kept) {
            return;
        }
        keepers().push_back({comm, known});
    }
    known->kept = attach(comm);
    if (!known->kept) {
        release(comm);
    }
}

std::shared_ptr<NodeCommunicators> recall(MPI_Comm comm) noexcept
{
    const std::scoped_lock lock(mutex);
    const auto found = find(comm);
    return found != keepers().end() ? found->known : nullptr;
}

} // namespace

std::shared_ptr<NodeCommunicators> recall_node_communicators(MPI_Comm comm) noexcept
{
    end_released();
    std::shared_ptr<NodeCommunicators> known = recall(comm);
    if (known) {
        return known;
    }
    try {
        known = std::make_shared<NodeCommunicators>();
        keep(comm, known);
    } catch (const std::bad_alloc&) {
        // what is not kept is made again
    }
    return known;
}

void forget_node_communicators() noexcept
{
    {
        const std::scoped_lock lock(mutex);
        for (Keeper& one : keepers()) {
            one.comm = MPI_COMM_NULL;
        }
    }
    end_released();
}

} // namespace sidelight::host::node
