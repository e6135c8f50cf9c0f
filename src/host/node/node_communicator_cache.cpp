// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/node_communicator_cache.hpp"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "host/mpi/communicator_key.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::host::node {
namespace {

using mpi::table;

/// Each takes one or two of the host's communicators, of which some hosts have only two thousand.
constexpr std::size_t most_kept = 64;

/// The attribute: a share in what is kept.
using Share = std::shared_ptr<NodeCommunicators>;

/// Guards what follows. Not held during calls of the host that may run `drop`.
std::mutex mutex;
int attribute_key = MPI_KEYVAL_INVALID;

/// Never destroyed: MPI may end when this library has.
std::vector<MPI_Comm>& keepers()
{
    static auto* const made = new std::vector<MPI_Comm>;
    return *made;
}

extern "C" {

int drop(MPI_Comm comm, int, void* share, void*)
{
    {
        const std::scoped_lock lock(mutex);
        std::erase(keepers(), comm);
    }
    Share* dropped = static_cast<Share*>(share);
    (*dropped)->in_memory.set({}); // whoever still asks there hears of it
    delete dropped;
    return MPI_SUCCESS;
}

} // extern "C"

int known_key() noexcept
{
    const std::scoped_lock lock(mutex);
    return attribute_key;
}

/// The key, if one more may be kept; it is entered as a keeper then.
int enter(MPI_Comm comm)
{
    const std::scoped_lock lock(mutex);
    if (keepers().size() >= most_kept) {
        return MPI_KEYVAL_INVALID;
    }
    if (attribute_key == MPI_KEYVAL_INVALID) {
        attribute_key = mpi::create_communicator_key(drop);
    }
    if (attribute_key == MPI_KEYVAL_INVALID) {
        return MPI_KEYVAL_INVALID;
    }
    keepers().push_back(comm);
    return attribute_key;
}

/// Throws std::bad_alloc.
void keep(MPI_Comm comm, const Share& known)
{
    auto share = std::make_unique<Share>(known);
    const int key = enter(comm);
    if (key == MPI_KEYVAL_INVALID) {
        return;
    }
    if (table().Comm_set_attr(comm, key, share.get()) == MPI_SUCCESS) {
        static_cast<void>(share.release()); // the attribute's now
        known->kept = true;
    } else {
        const std::scoped_lock lock(mutex);
        std::erase(keepers(), comm);
    }
}

} // namespace

std::shared_ptr<NodeCommunicators> recall_node_communicators(MPI_Comm comm) noexcept
{
    const int key = known_key();
    void* share = nullptr;
    int found = 0;
    if (key != MPI_KEYVAL_INVALID) {
        table().Comm_get_attr(comm, key, &share, &found);
    }
    if (found != 0) {
        return *static_cast<Share*>(share);
    }
    Share made;
    try {
        made = std::make_shared<NodeCommunicators>();
        keep(comm, made);
    } catch (const std::bad_alloc&) {
        // what is not kept is made again
    }
    return made;
}

void forget_node_communicators() noexcept
{
    std::vector<MPI_Comm> left;
    int key = MPI_KEYVAL_INVALID;
    {
        const std::scoped_lock lock(mutex);
        left = std::exchange(keepers(), {});
        key = std::exchange(attribute_key, MPI_KEYVAL_INVALID);
    }
    for (const MPI_Comm comm : left) {
        table().Comm_delete_attr(comm, key);
    }
    if (key != MPI_KEYVAL_INVALID) {
        table().Comm_free_keyval(&key);
    }
}

} // namespace sidelight::host::node
