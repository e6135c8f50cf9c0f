// SPDX-License-Identifier: BSD-3-Clause
#include "api/window_create.hpp"

#include <array>
#include <exception>
#include <new>

#include "api/runtime.hpp"
#include "base/digest.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "datatype/mpi/cache.hpp"
#include "datatype/mpi/predefined.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "host/node/exchange.hpp"

namespace sidelight::api {

namespace {

using host::node::NodeMemory;
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

bool brings_memory(Flavor flavor) noexcept
{
    return flavor == Flavor::create || flavor == Flavor::dynamic;
}

bool is_local_intracommunicator(MPI_Comm comm, int& members, int& rank) noexcept
{
    const auto& mpi = host::mpi::table();
    int inter = 0;
    return comm != MPI_COMM_NULL && mpi.Comm_test_inter(comm, &inter) == MPI_SUCCESS &&
           inter == 0 && mpi.Comm_size(comm, &members) == MPI_SUCCESS &&
           mpi.Comm_rank(comm, &rank) == MPI_SUCCESS;
}

/// Everything of this member's own that may run out. Null then, with a word in the log: the others
/// are told in the first exchange, where they would wait for a member that had thrown.
WindowObject* prepare(const WindowRequest& request) noexcept
{
    try {
        datatype::register_predefined();
        Runtime::instance();
        WindowInfo info;
        info.update(request.info);
        WindowObject& object = window_table::take();
        object.info = info;
        return &object;
    } catch (const std::exception& error) {
        log(LogLevel::warn, "no window of our own: %s", error.what());
        return nullptr;
    }
}

/// `object` is null where this member cannot take part.
std::optional<NodeMemory> allocate(const WindowRequest& request, const WindowObject* object,
                                   int members)
{
    const bool contiguous =
        request.flavor == Flavor::shared && object != nullptr && !object->info.noncontiguous();
    return host::node::allocate_node_memory(
        request.comm,
        {.common_bytes = sizeof(rma::BarrierWord),
         .control_bytes = rma::Control::bytes(static_cast<std::size_t>(members)),
         .window_bytes = brings_memory(request.flavor) ? 0 : static_cast<std::size_t>(request.size),
         .placement = contiguous ? host::node::Placement::contiguous : host::node::Placement::pages,
         .usable = object != nullptr});
}

/// Unique in the job: no other process has this one's identity.
std::uint64_t next_window_id(std::uint64_t identity) noexcept
{
    static std::atomic<std::uint64_t> windows{0};
    const std::array<std::uint64_t, 2> name{identity,
                                            windows.fetch_add(1, std::memory_order_relaxed)};
    const auto* bytes = reinterpret_cast<const char*>(name.data());
    return digest({bytes, sizeof name});
}

rma::WindowShape shape_of(WindowObject& object, const WindowRequest& request, int rank,
                          std::uint64_t id)
{
    rma::WindowShape shape;
    shape.id = id;
    shape.rank = rank;
    shape.size = object.memory->members();
    shape.flavor = request.flavor;
    shape.members = &*object.members;
    shape.neighbours = object.members->ranks();
    shape.barrier = {.word = reinterpret_cast<rma::BarrierWord*>(object.memory->common()),
                     .node = 0,
                     .leaders = shape.neighbours.first(1)};
    shape.reorder = object.info.reorder();
    return shape;
}

void describe_to_mpi(WindowObject& object, const WindowRequest& request, int rank) noexcept
{
    const rma::Target& own = object.window->target(rank);
    object.base = request.flavor == Flavor::dynamic ? nullptr : own.base; // MPI_BOTTOM
    object.size = static_cast<MPI_Aint>(own.size);
    object.disp_unit = static_cast<int>(own.disp_unit);
    object.flavor = mpi_flavor(request.flavor);
    object.model = MPI_WIN_UNIFIED;
    object.loads_and_stores.store(request.flavor == Flavor::shared, std::memory_order_relaxed);
}

/// Makes the handle and meets the others. Answers false, on all members alike, if one cannot.
bool join(WindowObject& object, const WindowRequest& request, int rank, int members)
{
    Runtime& runtime = Runtime::instance();
    NodeMemory& memory = *object.memory;
    rma::Control::create(memory.control(rank), static_cast<std::size_t>(members));
    if (rank == 0) {
        new (memory.common()) rma::BarrierWord;
    }
    object.own = host::mpi::own_communicator(request.comm);
    datatype::set_commit_probe(object.own);
    Greeting mine{.peer = runtime.fabric().address(),
                  .disp_unit = static_cast<std::uint64_t>(request.disp_unit),
                  .window = next_window_id(runtime.fabric().address().identity)};
    mine.ready = object.own != MPI_COMM_NULL &&
                 host::mpi::create_handle(request.comm, &object.handle) == Status::ok &&
                 host::mpi::table().Comm_group(request.comm, &object.group) == MPI_SUCCESS;
    auto greetings = host::node::exchange(request.comm, mine, members);
    bool all_ready = !greetings.empty();
    for (const Greeting& greeting : greetings) {
        all_ready = all_ready && greeting.ready;
    }
    if (all_ready) {
        const EngineGuard guard(runtime.lock());
        const std::uint64_t id = greetings.front().window;
        object.members.emplace(memory, std::move(greetings), runtime.fabric());
        if (brings_memory(request.flavor)) {
            const bool create = request.flavor == Flavor::create;
            object.members->bring(rank, create ? static_cast<std::byte*>(request.base) : nullptr,
                                  create ? static_cast<std::size_t>(request.size) : 0);
        }
        object.window = &runtime.process().create_window(shape_of(object, request, rank, id));
    } else if (mine.ready) {
        host::mpi::table().Group_free(&object.group);
        static_cast<void>(host::mpi::destroy_handle(&object.handle));
    }
    return all_ready;
}

} // namespace

Status check(const WindowRequest& request) noexcept
{
    if (request.size < 0) {
        return Status::size;
    }
    if (request.disp_unit <= 0) {
        return Status::disp;
    }
    if (request.flavor == Flavor::create && request.base == nullptr && request.size > 0) {
        return Status::base;
    }
    return Status::ok;
}

WindowObject* create_window(const WindowRequest& request)
{
    int members = 0;
    int rank = 0;
    if (!settings().enable || !is_local_intracommunicator(request.comm, members, rank) ||
        (members > 1 && brings_memory(request.flavor))) {
        return nullptr;
    }
    WindowObject* prepared = prepare(request);
    auto memory = allocate(request, prepared, members);
    if (!memory.has_value()) {
        log(LogLevel::info, "window over %d processes left to the host: no memory that all can map",
            members);
        if (prepared != nullptr) {
            window_table::give_back(*prepared);
        }
        return nullptr;
    }
    Runtime& runtime = Runtime::instance();
    WindowObject& object = *prepared;
    object.memory = std::move(memory);
    if (!join(object, request, rank, members)) {
        window_table::give_back(object);
        return nullptr;
    }
    describe_to_mpi(object, request, rank);
    runtime.learn_neighbours(object.memory->neighbours());
    runtime.start_progress();
    window_table::insert(object);
    return &object;
}

void discard_window(WindowObject& object) noexcept
{
    Runtime& runtime = Runtime::instance();
    window_table::remove(object);
    {
        const EngineGuard guard(runtime.lock());
        runtime.process().destroy_window(*object.window);
    }
    host::mpi::table().Group_free(&object.group);
    window_table::give_back(object);
}

} // namespace sidelight::api
