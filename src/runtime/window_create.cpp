// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/window_create.hpp"

#include <algorithm>
#include <limits>

#include "base/heap.hpp"
#include "base/settings.hpp"
#include "host/mpi/table.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window_creation.hpp"
#include "runtime/window_table.hpp"

namespace sidelight::runtime {

namespace {

using rma::Flavor;

int mpi_flavor(Flavor flavor) noexcept
{
    switch (flavor) {
    case Flavor::create:
        return MPI_WIN_FLAVOR_CREATE;
    case Flavor::allocate:
        return MPI_WIN_FLAVOR_ALLOCATE;
    case Flavor::dynamic:
        return MPI_WIN_FLAVOR_DYNAMIC;
    case Flavor::shared:
        return MPI_WIN_FLAVOR_SHARED;
    }
    return MPI_WIN_FLAVOR_CREATE;
}

bool is_local_intracommunicator(MPI_Comm comm, int& members, int& rank) noexcept
{
    const auto& mpi = host::mpi::table();
    int inter = 0;
    return comm != MPI_COMM_NULL && mpi.Comm_test_inter(comm, &inter) == MPI_SUCCESS &&
           inter == 0 && mpi.Comm_size(comm, &members) == MPI_SUCCESS &&
           mpi.Comm_rank(comm, &rank) == MPI_SUCCESS;
}

/// What an attribute can say.
constexpr int largest_unit = std::numeric_limits<int>::max();

void describe_to_mpi(WindowObject& object, const WindowRequest& request, int rank) noexcept
{
    const rma::Target& own = object.window->target(rank);
    WindowBody& body = *object.body;
    body.attributes = {.base = request.flavor == Flavor::dynamic ? nullptr : own.base, // MPI_BOTTOM
                       .size = static_cast<MPI_Aint>(own.size),
                       .disp_unit =
                           static_cast<int>(std::min<std::uint64_t>(own.disp_unit, largest_unit)),
                       .flavor = mpi_flavor(request.flavor)};
    body.loads_and_stores.store(request.flavor == Flavor::shared, std::memory_order_relaxed);
}

/// Whether an address may be the beginning of a window's memory. Open MPI takes NULL as well, for
/// the beginning of all addresses; where it is a mistake, nobody may ever reach there.
bool may_begin(const void* base) noexcept
{
#ifdef OPEN_MPI
    static_cast<void>(base);
    return true;
#else
    return base != nullptr;
#endif
}

/// What can be told without the others. Memory that a program brings may be said to be all that
/// there are addresses for.
Status check(const WindowRequest& request) noexcept
{
    if (!request.has_answers) {
        return Status::argument;
    }
    if (request.size < 0) {
        return Status::size;
    }
    const bool brings = request.flavor == Flavor::create;
    if (!brings && request.size > most_addresses) { // hosts hang over some of these
        return Status::no_memory;
    }
    if (request.disp_unit <= 0) {
        return Status::disp;
    }
    if (brings && request.size > 0 && !may_begin(request.base)) {
        return Status::base;
    }
    if (!is_info(request.info)) {
        return Status::info;
    }
    return Status::ok;
}

} // namespace

NewWindow create_window(const WindowRequest& request)
{
    const Status wrong = check(request);
    int members = 0;
    int rank = 0;
    if (!settings().enable || !is_local_intracommunicator(request.comm, members, rank)) {
        return {.refused = wrong};
    }
    Creation creation(request, wrong, members, rank);
    WindowObject* made = creation.run();
    if (made == nullptr) {
        return {.refused = creation.refused()};
    }
    Runtime& runtime = Runtime::instance();
    describe_to_mpi(*made, request, rank);
    runtime.waiting().learn_neighbours(made->body->memory->neighbours());
    return {.object = made};
}

void discard_window(WindowObject& object) noexcept
{
    Runtime& runtime = Runtime::instance();
    window_table::remove(object);
    const std::uint64_t id = object.window->id();
    const bool all_have_left = !object.window->broken();
    std::size_t freed = 0;
    {
        const EngineToken token(runtime.engine());
        runtime.engine().process().destroy_window(*object.window);
        freed = runtime.engine().process().shrink() + runtime.requests().shrink();
    }
    trim_heap(freed);
    WindowBody& body = *object.body;
    body.members->leave_mappings();
    if (body.communicators && all_have_left) {
        body.communicators->spare.put(id, std::move(*body.memory));
    }
    host::mpi::table().Group_free(&body.group);
    body.release_memory();
    window_table::give_back(object);
}

} // namespace sidelight::runtime
