// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <new>

#include "base/settings.hpp"
#include "base/system_limits.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "rma/engine/window_parts.hpp"
#include "runtime/life.hpp"
#include "runtime/runtime.hpp"
#include "runtime/tracing.hpp"
#include "runtime/window_creation.hpp"
#include "runtime/window_table.hpp"

/// The last steps of making a window: its memory, the neighbours, the engine's side.
namespace sidelight::runtime {

namespace {

using rma::Flavor;

rma::WindowShape shape_of(WindowObject& object, const WindowRequest& request, int rank)
{
    WindowBody& body = *object.body;
    rma::WindowShape shape;
    shape.id = body.members->window_id();
    shape.rank = rank;
    shape.size = body.members->size();
    shape.flavor = request.flavor;
    shape.members = &*body.members;
    shape.neighbours = body.members->neighbours();
    shape.barrier = {.word = reinterpret_cast<rma::BarrierWord*>(body.memory->common()),
                     .node = body.members->node(),
                     .leaders = body.members->leaders()};
    shape.reorder = object.info.reorder();
    shape.early_return = object.info.early_return();
    shape.calls_for_events = object.info.progress() != Progress::calls;
    shape.offers = settings().offers;
    shape.no_exclusive_locks = object.info.no_exclusive_locks();
    shape.active_at_target = object.info.active_at_target();
    return shape;
}

} // namespace

/// What the members on one node share: the barrier's word, the member table, their blocks, and
/// their memory where they do not bring it.
bool Creation::get_memory()
{
    constexpr std::size_t member_table_at = sizeof(rma::BarrierWord);
    const bool contiguous = request_.flavor == Flavor::shared && !object_->info.noncontiguous();
    const bool keeps_spare = one_node_ && in_memory_;
    const host::node::MemberTableDraft* table = member_table();
    body().memory = host::node::allocate_node_memory(
        here(),
        {.common_bytes = member_table_at + (table != nullptr ? table->bytes() : 0),
         .control_bytes = rma::Control::bytes(static_cast<std::size_t>(members_),
                                              static_cast<std::size_t>(neighbours())),
         .window_bytes =
             brings_memory(request_.flavor) ? 0 : static_cast<std::size_t>(request_.size),
         .placement = contiguous ? host::node::Placement::contiguous : host::node::Placement::pages,
         .alignment = object_->info.minimum_alignment()},
        std::move(room_->memory),
        keeps_spare ? kept_->spare.take() : host::node::SpareMemory::Taken{});
    if (body().memory) {
        body().communicators = keeps_spare ? kept_ : nullptr;
        body().mappings = kept_ ? kept_->brought : nullptr;
        rma::Control::create(body().memory->control(index()));
        if (index() == 0) {
            new (body().memory->common()) rma::BarrierWord;
            if (table != nullptr) {
                table->write(body().memory->common() + member_table_at);
            }
        }
    }
    const bool there = body().memory.has_value();
    if (!one_node_ && members_ > 1) {
        return all_agree(there);
    }
    // Those on one node have answered alike.
    if (!there && nobody_could()) {
        refused_ = Status::no_memory;
    }
    return there;
}

/// Whether the members on one node ask for memory that no host could give them either: a member has
/// too few addresses for its own, or for all of it where that is to be shared; or one wants so much
/// that there is room in hardly any process, or all do where all map it. Hosts, to which the window
/// would be left, hang and crash over it.
bool Creation::nobody_could() noexcept
{
    if (brings_memory(request_.flavor)) {
        return false;
    }
    std::vector<host::node::MemberRecord>& records = room_->records;
    records.front().bytes = bytes();
    if (members_ > 1 && !all().exchange({.bytes = bytes()}, records)) {
        return false;
    }
    constexpr std::uint64_t most = std::uint64_t{most_addresses} / 2;
    std::uint64_t sum = 0;
    std::uint64_t largest = 0;
    for (const host::node::MemberRecord& one : records) {
        sum = std::min(sum + one.bytes, most);
        largest = std::max(largest, one.bytes);
    }
    const bool maps_all = request_.flavor == Flavor::shared;
    const std::uint64_t wanted = maps_all ? sum : bytes();
    const bool lacks = wanted != 0 && lack_of_addresses(wanted);
    return !all_agree((maps_all ? sum : largest) < most && !lacks);
}

/// Whether it worked is told at the end, with the window.
void Creation::make_handle() noexcept
{
    has_handle_ = host::mpi::create_handle(request_.comm, &object_->handle) == Status::ok &&
                  host::mpi::table().Comm_group(request_.comm, &body().group) == MPI_SUCCESS;
    lend_communicator();
}

/// After that the words of the members on this node, and the member table, are there. Whether there
/// was memory for what they said is told at the end, too.
bool Creation::meet_neighbours()
{
    Runtime& runtime = Runtime::instance();
    const bool brings = request_.flavor == Flavor::dynamic ||
                        (request_.flavor == Flavor::create && request_.size != 0);
    const bool may_be_copied = settings().kernel_copy != kernel_copy_never;
    const bool copied = may_be_copied && brings && carried_;
    const Greeting mine{
        .peer = runtime.engine().fabric().address(),
        .bytes = bytes(),
        .disp_unit = disp_unit(),
        .window = id_,
        .rank = rank_,
        .base =
            request_.flavor == Flavor::create ? reinterpret_cast<std::uintptr_t>(request_.base) : 0,
        .identity_at =
            copied || (may_be_copied && settings().offers)
                ? reinterpret_cast<std::uintptr_t>(&runtime.engine().fabric().address().identity)
                : 0,
        .brings = brings,
        .copied = copied,
        .shared = static_cast<bool>(body().brought),
        .lasts = body().brought.lasts(),
        .where = body().brought.where()};
    std::vector<Greeting>& greetings = room_->greetings;
    greetings.resize(static_cast<std::size_t>(neighbours())); // never more
    if (!here().exchange(mine, greetings)) {
        return false;
    }
    std::optional<host::node::MemberTable> table;
    if (member_table() != nullptr) {
        table.emplace(body().memory->common() + sizeof(rma::BarrierWord), member_table()->members,
                      member_table()->nodes);
    }
    const bool knows_members = attempt([&] {
        body().members.emplace(*body().memory, std::move(greetings), table,
                               runtime.engine().fabric(), body().mappings.get());
    });
    if (knows_members && brings_memory(request_.flavor)) {
        body().members->bring(rank_, request_.flavor == Flavor::create
                                         ? static_cast<std::byte*>(request_.base)
                                         : nullptr);
    }
    return true;
}

void apply_early_return(const WindowObject& object) noexcept
{
    object.window->parts().queue.early().set_limit(object.info.early_return());
}

/// Nobody leaves before all have the window, so that no message comes too early for it. What sweeps
/// beside the program is there before, so that the engine makes the window for it.
bool Creation::create()
{
    Engine& engine = Runtime::instance().engine();
    const bool made = has_handle_ && body().members && attempt([&] {
                          if (body().memory->placement() == host::node::Placement::contiguous) {
                              object_->info.set_contiguous();
                          }
                          Runtime::instance().helpers().start(object_->info.progress());
                          const EngineToken token(engine);
                          rma::WindowShape shape = shape_of(*object_, request_, rank_);
                          shape.meets_at_end = of_world_;
                          object_->window = &engine.process().create_window(shape);
                          window_table::insert(*object_);
                      });
    if (all_agree(made)) {
        trace_members(*object_);
        return true;
    }
    window_table::remove(*object_);
    if (object_->window != nullptr) {
        const EngineToken token(engine);
        engine.process().destroy_window(*object_->window);
    }
    return false;
}

} // namespace sidelight::runtime
