// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/window_creation.hpp"

#include <array>

#include "base/digest.hpp"
#include "base/settings.hpp"
#include "datatype/mpi/predefined.hpp"
#include "host/library_threads.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "host/signals.hpp"
#include "runtime/life.hpp"
#include "runtime/runtime.hpp"
#include "runtime/shared_exchange.hpp"
#include "runtime/window_table.hpp"

/// The steps of making a window up to its memory: who the members are and how they reach each
/// other.
namespace sidelight::runtime {

namespace {

using host::node::CanBeMapped;
using rma::Flavor;

/// With so many members at most the room is made before it is known who is on which node.
constexpr int most_at_first = 1024;

/// Everything of this member's own that comes first.
WindowObject* prepare(const WindowRequest& request) noexcept
{
    WindowObject* object = nullptr;
    const bool worked = attempt([&] {
        datatype::register_predefined();
        Runtime::instance();
        WindowInfo info;
        info.update(request.info, KeyScope::creation);
        auto body = std::make_shared<WindowBody>();
        object = &window_table::take();
        body->original = object;
        object->body = std::move(body);
        window_table::take_over(*object, std::move(info));
    });
    return worked ? object : nullptr;
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

} // namespace

bool Creation::all_agree(bool mine) noexcept { return members_ == 1 ? mine : all().agree(mine); }

WindowObject* Creation::run()
{
    object_ = refused_ == Status::ok ? prepare(request_) : nullptr;
    bool made = find_route() && open_network() && know_members() && get_memory();
    if (made) {
        make_handle();
        made = meet_neighbours() && create();
    }
    if (made) {
        return object_;
    }
    if (in_memory_ && in_memory_->lost()) {
        refused_ = Status::lost;
    }
    if (refused_ == Status::ok) {
        log(LogLevel::warn, "a window of %d processes is left to the host MPI: %s", members_,
            reason_);
    }
    if (has_handle_) {
        host::mpi::table().Group_free(&body().group);
        static_cast<void>(host::mpi::destroy_handle(&object_->handle));
    }
    if (object_ != nullptr) {
        window_table::give_back(*object_);
    }
    return nullptr;
}

bool Creation::make_room(int members) noexcept
{
    return attempt([&] { room_.emplace(static_cast<std::size_t>(members)); });
}

/// Where this member wants to be seen: on its node, or `alone` on one of its own.
bool Creation::find_node(bool alone, std::uint64_t& node) noexcept
{
    return attempt([&] {
        node = alone ? Runtime::instance().engine().fabric().address().identity
                     : host::node::node_identity();
    });
}

/// In memory, where that was possible before; where a member has given that up since, none has it
/// any more.
host::node::Survey Creation::ask_all(std::uint64_t node, bool ready,
                                     host::node::CanBeMapped mapped) noexcept
{
    const host::node::SurveyAnswer mine{
        .node = node,
        .yes = ready,
        .knows = kept_ && kept_->split && kept_->split->node == node,
        .keeps = kept_ && kept_->kept,
        .no_exclusive_locks = object_ != nullptr && object_->info.no_exclusive_locks(),
        .active_at_target = object_ != nullptr && object_->info.active_at_target(),
        .of_world = is_world_alone(),
        .mapped = mapped,
        .wrong = refused_};
    host::node::Survey found = host::node::survey(all(), mine);
    if (!found.reached && in_memory_ && !in_memory_->lost()) {
        keep_exchange(nullptr);
        found = host::node::survey(all(), mine);
    }
    return found;
}

void Creation::keep_exchange(std::shared_ptr<host::node::Exchange> exchange) noexcept
{
    in_memory_ = std::move(exchange);
    kept_->in_memory.set(in_memory_);
}

/// Where the members are, and so how they reach each other.
bool Creation::find_route()
{
    if (members_ == 1) {
        return object_ != nullptr && make_room(1);
    }
    // Memory that is asked for to be shared is, whatever route operations would take.
    const bool alone = settings().route != Route::automatic && request_.flavor != Flavor::shared;
    kept_ = host::node::recall_node_communicators(request_.comm);
    in_memory_ = kept_ ? kept_->in_memory.get() : nullptr;
    std::uint64_t node = 0;
    const bool ready = object_ != nullptr && kept_ && find_node(alone, node) &&
                       make_room(members_ <= most_at_first ? members_
                                 : kept_->split            ? kept_->split->members
                                                           : 0);
    const CanBeMapped told = ready ? tell_memory(alone) : CanBeMapped::no;
    const host::node::Survey found = ask_all(node, ready, told);
    refused_ = found.wrong;
    if (!found.worked) {
        return false;
    }
    object_->info.set_no_exclusive_locks(found.no_exclusive_locks);
    object_->info.set_active_at_target(found.active_at_target);
    of_world_ = found.of_world;
    one_node_ = found.one_node;
    if (request_.flavor == Flavor::shared && !one_node_) {
        // Not every host refuses it.
        if (host::node::host_can_share(request_.comm)) {
            reason_ = "memory of several containers is to be shared";
        } else {
            refused_ = Status::rma_shared;
        }
        return false;
    }
    if (one_node_ && found.all_keep && !in_memory_) {
        keep_exchange(SharedExchange::make(request_.comm));
    }
    if (one_node_ && told == CanBeMapped::unknown) {
        share_brought_memory();
    }
    const bool all_mapped =
        one_node_ && (found.mapped == CanBeMapped::unknown ? all_agree(is_shared())
                                                           : found.mapped == CanBeMapped::yes);
    carried_ = !all_mapped || found.active_at_target;
    if (carried_ && !learn_split(node, found.all_know)) {
        return false;
    }
    if (carried_ && !one_node_ && !alone && kept_->split->members > 1) {
        share_brought_memory();
    }
    const bool has_room = members_ <= most_at_first || (carried_ && found.all_know);
    return has_room || all_agree(make_room(neighbours())); // alike on all members
}

bool Creation::learn_split(std::uint64_t node, bool all_know)
{
    if (!all_know) {
        kept_->split = host::node::split_by_node(request_.comm, node);
        kept_->member_table.reset();
        kept_->all_have_network = false;
        if (kept_->split && !one_node_) {
            Runtime::instance().waiting().learn_neighbours(
                host::node::count_on_cores(request_.comm, node));
        }
    }
    if (kept_->split && !one_node_) {
        on_node_.emplace(kept_->split->on_node.get());
    }
    return kept_->split.has_value();
}

/// Whether others will map this member's memory if all are on one node, so that no message is ever
/// needed. What is attached to a dynamic window is not known yet; and memory that the program
/// brings is looked at when it is of use: where these members were on one node before, or, behind
/// the survey, are.
CanBeMapped Creation::tell_memory(bool alone) noexcept
{
    if (request_.flavor == Flavor::dynamic) {
        return CanBeMapped::no;
    }
    if (request_.flavor != Flavor::create) {
        return CanBeMapped::yes;
    }
    if (alone) {
        return CanBeMapped::no;
    }
    if (!in_memory_) {
        return CanBeMapped::unknown;
    }
    share_brought_memory();
    return is_shared() ? CanBeMapped::yes : CanBeMapped::no;
}

bool Creation::is_shared() const noexcept
{
    return bytes() == 0 || static_cast<bool>(body().brought);
}

void Creation::share_brought_memory() noexcept
{
    if (request_.flavor == Flavor::create && !is_shared()) {
        body().brought = share_brought(*object_, request_.base, bytes());
    }
}

bool Creation::open_network()
{
    if (!carried_ || kept_->all_have_network) {
        return true;
    }
    bool open = false;
    {
        Runtime& runtime = Runtime::instance();
        const host::LibraryThreads of_the_network;
        const host::SignalsBlocked in_its_threads;
        const EngineToken token(runtime.engine());
        const bool tried = attempt([&] { open = runtime.network().open(); });
        open = tried && open;
    }
    if (!all_agree(open)) {
        reason_ = open ? "another member has no network" : "it needs messages, and has no network";
        return false;
    }
    kept_->all_have_network = true;
    return true;
}

bool Creation::know_members()
{
    id_ = next_window_id(Runtime::instance().engine().fabric().address().identity);
    return !carried_ || take_member_table();
}

/// On one node only what is of this window is new, once there is one.
bool Creation::take_member_table()
{
    fabric::JoinedFabric& fabric = Runtime::instance().engine().fabric();
    const host::node::MemberRecord mine{.identity = fabric.address().identity,
                                        .bytes = bytes(),
                                        .disp_unit = disp_unit(),
                                        .window = id_};
    std::optional<host::node::MemberTableDraft>& kept = kept_->member_table;
    if (!in_memory_ || !one_node_ || !kept) {
        kept = host::node::gather_member_table(request_.comm, *kept_->split, mine,
                                               fabric.network()->address());
        return kept.has_value();
    }
    if (!all().exchange(mine, room_->records)) {
        return false;
    }
    for (std::size_t member = 0; member < kept->records.size(); ++member) { // a leader's
        const host::node::MemberRecord& said = room_->records[member];
        kept->records[member].bytes = said.bytes;
        kept->records[member].disp_unit = said.disp_unit;
        kept->records[member].window = said.window;
    }
    return true;
}

namespace {

/// Another thread may be about to change the info of a duplicate.
SharePolicy share_policy(const WindowObject& object) noexcept
{
    const EngineToken token(Runtime::instance().engine());
    return object.info.share_policy();
}

} // namespace

host::memory::SharedRange share_brought(WindowObject& object, const void* base,
                                        std::size_t bytes) noexcept
{
    host::memory::SharedRange range = host::memory::share(base, bytes, share_policy(object));
    WindowBody& body = *object.body;
    if (!range && !body.told_private) {
        body.told_private = true;
        log(LogLevel::info,
            "%zu bytes at %p of a window are private: %s. Others reach them by copies of the "
            "kernel "
            "and messages; memory of MPI_Win_allocate or MPI_Alloc_mem they would map, and this "
            "with SIDELIGHT_SHARE_MEMORY=inplace, if it is whole pages",
            bytes, base, host::memory::text(range.refusal()));
    }
    return range;
}

} // namespace sidelight::runtime
