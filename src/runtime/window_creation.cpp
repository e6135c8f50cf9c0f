// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/window_creation.hpp"

#include <array>

#include "base/digest.hpp"
#include "base/settings.hpp"
#include "datatype/mpi/predefined.hpp"
#include "host/library_threads.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "host/node/exchange.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window_table.hpp"

/// The steps of making a window up to its memory: who the members are and how they reach each
/// other.
namespace sidelight::runtime {

namespace {

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
        info.update(request.info);
        object = &window_table::take();
        object->info = std::move(info);
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

bool Creation::all_agree(bool mine) noexcept
{
    return members_ == 1 ? mine : host::node::agree(request_.comm, mine);
}

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
    if (refused_ == Status::ok) {
        log(LogLevel::warn, "a window of %d processes is left to the host MPI: %s", members_,
            reason_);
    }
    if (has_handle_) {
        host::mpi::table().Group_free(&object_->group);
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

/// Where the members are, and so how they reach each other.
bool Creation::find_route()
{
    if (members_ == 1) {
        return object_ != nullptr && make_room(1);
    }
    // Memory that is asked for to be shared is, whatever route operations would take.
    const bool alone = settings().route != Route::automatic && request_.flavor != Flavor::shared;
    kept_ = host::node::find_node_communicators(request_.comm);
    std::uint64_t node = 0;
    const bool ready = object_ != nullptr && find_node(alone, node) &&
                       make_room(members_ <= most_at_first ? members_ : neighbours());
    const host::node::Survey found =
        host::node::survey(request_.comm, node, ready, kept_ != nullptr, refused_);
    refused_ = found.wrong;
    if (!found.worked) {
        return false;
    }
    if (request_.flavor == Flavor::shared && !found.one_node) {
        reason_ = "memory of several nodes cannot be shared";
        return false;
    }
    const bool all_shared = found.one_node && share_memory(!alone);
    carried_ = !all_shared;
    if (!carried_) {
        kept_ = nullptr;
    } else if (!found.all_know) {
        kept_ = nullptr;
        kept_ = host::node::cache_node_communicators(request_.comm, node);
    }
    if (carried_ && kept_ == nullptr) {
        return false;
    }
    if (carried_ && !found.one_node && !alone && kept_->split.members > 1) {
        share_brought_memory();
    }
    const bool has_room = members_ <= most_at_first || (carried_ && found.all_know);
    return has_room || all_agree(make_room(neighbours())); // alike on all members
}

/// Whether all members map all memory, so that no message will ever be needed. What is attached to
/// a dynamic window is not known yet.
bool Creation::share_memory(bool wanted)
{
    if (request_.flavor == Flavor::dynamic) {
        return false;
    }
    if (request_.flavor != Flavor::create) {
        return true;
    }
    if (wanted) {
        share_brought_memory();
    }
    return all_agree(bytes() == 0 || static_cast<bool>(object_->brought));
}

void Creation::share_brought_memory() noexcept
{
    if (request_.flavor == Flavor::create && bytes() != 0) {
        object_->brought = share_brought(*object_, request_.base, bytes());
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
    Runtime& runtime = Runtime::instance();
    id_ = next_window_id(runtime.engine().fabric().address().identity);
    if (!carried_) {
        return true;
    }
    member_table_ =
        host::node::gather_member_table(request_.comm, kept_->split,
                                        {.identity = runtime.engine().fabric().address().identity,
                                         .bytes = bytes(),
                                         .disp_unit = disp_unit(),
                                         .window = id_},
                                        runtime.engine().fabric().network()->address());
    return member_table_.has_value();
}

host::memory::SharedRange share_brought(WindowObject& object, const void* base,
                                        std::size_t bytes) noexcept
{
    host::memory::SharedRange range = host::memory::share(base, bytes, object.info.share_policy());
    if (!range && !object.told_private) {
        object.told_private = true;
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
