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
#include "host/node/node_communicator_cache.hpp"

namespace sidelight::api {

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

/// Unique in the job: no other process has this one's identity.
std::uint64_t next_window_id(std::uint64_t identity) noexcept
{
    static std::atomic<std::uint64_t> windows{0};
    const std::array<std::uint64_t, 2> name{identity,
                                            windows.fetch_add(1, std::memory_order_relaxed)};
    const auto* bytes = reinterpret_cast<const char*>(name.data());
    return digest({bytes, sizeof name});
}

rma::WindowShape shape_of(WindowObject& object, const WindowRequest& request, int rank)
{
    rma::WindowShape shape;
    shape.id = object.members->window_id();
    shape.rank = rank;
    shape.size = object.members->size();
    shape.flavor = request.flavor;
    shape.members = &*object.members;
    shape.neighbours = object.members->neighbours();
    shape.barrier = {.word = reinterpret_cast<rma::BarrierWord*>(object.memory->common()),
                     .node = object.members->node(),
                     .leaders = object.members->leaders()};
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

/// One window that is being made. Each step is collective and answers alike on all members.
class Creation {
public:
    Creation(const WindowRequest& request, int members, int rank) noexcept
        : request_(request), members_(members), rank_(rank)
    {}

    /// The new window; null if it is for the host to make.
    WindowObject* run();

private:
    bool find_road();
    bool share_memory(bool wanted);
    bool open_network();
    bool know_members();
    bool get_memory();
    void make_handle() noexcept;
    bool meet_neighbours();
    bool create();
    bool all_agree(bool mine) noexcept;
    [[nodiscard]] MPI_Comm on_node() const noexcept
    {
        return kept_ ? kept_->split.on_node.get() : request_.comm;
    }
    /// Of this member's memory, as the window is made.
    [[nodiscard]] std::uint64_t bytes() const noexcept
    {
        return request_.flavor == Flavor::dynamic ? 0 : static_cast<std::uint64_t>(request_.size);
    }
    [[nodiscard]] std::uint64_t disp_unit() const noexcept
    {
        return static_cast<std::uint64_t>(request_.disp_unit);
    }
    [[nodiscard]] int index() const noexcept { return kept_ ? kept_->split.index : rank_; }

    const WindowRequest& request_;
    int members_;
    int rank_;
    WindowObject* object_ = nullptr;
    bool has_handle_ = false;
    bool carried_ = false; ///< some operations travel as messages
    const char* reason_ = "a member could not make its part"; ///< should it be the host's
    std::shared_ptr<host::node::NodeCommunicators> kept_;     ///< null unless carried
    std::optional<host::node::MemberTableDraft> member_table_;
    std::uint64_t id_ = 0;
};

bool Creation::all_agree(bool mine) noexcept
{
    return members_ == 1 ? mine : host::node::agree(request_.comm, mine);
}

WindowObject* Creation::run()
{
    object_ = prepare(request_);
    bool made = find_road() && open_network() && know_members() && get_memory();
    if (made) {
        make_handle();
        made = meet_neighbours() && create();
    }
    if (made) {
        return object_;
    }
    log(LogLevel::warn, "a window of %d processes is left to the host MPI: %s", members_, reason_);
    if (has_handle_) {
        host::mpi::table().Group_free(&object_->group);
        static_cast<void>(host::mpi::destroy_handle(&object_->handle));
    }
    if (object_ != nullptr) {
        window_table::give_back(*object_);
    }
    return nullptr;
}

/// Where the members are, and so how they reach each other.
bool Creation::find_road()
{
    if (members_ == 1) {
        return object_ != nullptr;
    }
    // Memory that is asked for to be shared is, whatever road operations would take.
    const bool alone = settings().route != Route::automatic && request_.flavor != Flavor::shared;
    const std::uint64_t identity =
        object_ != nullptr ? Runtime::instance().fabric().address().identity : 0;
    const std::uint64_t node = alone ? identity : host::node::node_identity();
    kept_ = host::node::find_node_communicators(request_.comm);
    const host::node::Survey found =
        host::node::survey(request_.comm, node, object_ != nullptr, kept_ != nullptr);
    if (!found.worked) {
        return false;
    }
    if (request_.flavor == Flavor::shared && !found.one_node) {
        reason_ = "memory of several nodes cannot be shared";
        return false;
    }
    const bool all_shared = share_memory(!alone); // neighbours map it, also of several nodes
    carried_ = !found.one_node || !all_shared;
    if (!carried_) {
        kept_ = nullptr;
    } else if (!found.all_know) {
        kept_ = nullptr;
        kept_ = host::node::cache_node_communicators(request_.comm, node);
    }
    return !carried_ || kept_ != nullptr;
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
    if (bytes() != 0 && wanted) {
        object_->brought = share_brought(object_->info, request_.base, bytes());
        if (!object_->brought) {
            log(LogLevel::info, "memory given to MPI_Win_create stays private: %s",
                host::memory::text(object_->brought.refusal()));
        }
    }
    return all_agree(bytes() == 0 || static_cast<bool>(object_->brought));
}

bool Creation::open_network()
{
    if (!carried_ || kept_->all_have_network) {
        return true;
    }
    bool open = false;
    {
        Runtime& runtime = Runtime::instance();
        const EngineGuard guard(runtime.lock());
        open = runtime.open_network();
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
    id_ = next_window_id(runtime.fabric().address().identity);
    if (!carried_) {
        return true;
    }
    member_table_ =
        host::node::gather_member_table(request_.comm, kept_->split,
                                        {.identity = runtime.fabric().address().identity,
                                         .bytes = bytes(),
                                         .disp_unit = disp_unit(),
                                         .window = id_},
                                        runtime.fabric().network()->address());
    return member_table_.has_value();
}

/// What the members on one node share: the barrier's word, the member table, their blocks, and
/// their memory where they do not bring it.
bool Creation::get_memory()
{
    constexpr std::size_t member_table_at = sizeof(rma::BarrierWord);
    const bool contiguous = request_.flavor == Flavor::shared && !object_->info.noncontiguous();
    object_->memory = host::node::allocate_node_memory(
        on_node(),
        {.common_bytes = member_table_at + (member_table_ ? member_table_->bytes() : 0),
         .control_bytes = rma::Control::bytes(static_cast<std::size_t>(members_)),
         .window_bytes =
             brings_memory(request_.flavor) ? 0 : static_cast<std::size_t>(request_.size),
         .placement =
             contiguous ? host::node::Placement::contiguous : host::node::Placement::pages});
    if (object_->memory) {
        rma::Control::create(object_->memory->control(index()), static_cast<std::size_t>(members_));
        if (index() == 0) {
            new (object_->memory->common()) rma::BarrierWord;
            if (member_table_) {
                member_table_->write(object_->memory->common() + member_table_at);
            }
        }
    }
    return carried_ ? all_agree(object_->memory.has_value()) : object_->memory.has_value();
}

/// Whether it worked is told at the end, with the window.
void Creation::make_handle() noexcept
{
    object_->own = host::mpi::own_communicator(request_.comm);
    datatype::set_commit_probe(object_->own);
    has_handle_ = object_->own != MPI_COMM_NULL &&
                  host::mpi::create_handle(request_.comm, &object_->handle) == Status::ok &&
                  host::mpi::table().Comm_group(request_.comm, &object_->group) == MPI_SUCCESS;
}

/// After that the words of the members on this node, and the member table, are there.
bool Creation::meet_neighbours()
{
    Runtime& runtime = Runtime::instance();
    const bool brings = request_.flavor == Flavor::dynamic ||
                        (request_.flavor == Flavor::create && request_.size != 0);
    const bool copied = brings && carried_ && settings().kernel_copy != kernel_copy_never;
    if (copied) {
        fabric::allow_copies(); // before the others try
    }
    const Greeting mine{
        .peer = runtime.fabric().address(),
        .bytes = bytes(),
        .disp_unit = disp_unit(),
        .window = id_,
        .rank = rank_,
        .base =
            request_.flavor == Flavor::create ? reinterpret_cast<std::uintptr_t>(request_.base) : 0,
        .identity_at =
            copied ? reinterpret_cast<std::uintptr_t>(&runtime.fabric().address().identity) : 0,
        .brings = brings,
        .shared = static_cast<bool>(object_->brought),
        .where = object_->brought.where()};
    auto greetings = host::node::exchange(on_node(), mine, kept_ ? kept_->split.members : members_);
    if (greetings.empty()) {
        return false;
    }
    std::optional<host::node::MemberTable> member_table;
    if (member_table_) {
        member_table.emplace(object_->memory->common() + sizeof(rma::BarrierWord),
                             member_table_->members, member_table_->nodes);
    }
    object_->members.emplace(*object_->memory, std::move(greetings), member_table,
                             runtime.fabric());
    if (brings_memory(request_.flavor)) {
        object_->members->bring(rank_, request_.flavor == Flavor::create
                                           ? static_cast<std::byte*>(request_.base)
                                           : nullptr);
    }
    return true;
}

/// Nobody leaves before all have the window, so that no message comes too early for it.
bool Creation::create()
{
    Runtime& runtime = Runtime::instance();
    try {
        if (has_handle_) {
            const EngineGuard guard(runtime.lock());
            object_->window = &runtime.process().create_window(shape_of(*object_, request_, rank_));
        }
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn, "no window of our own: out of memory");
    }
    if (!all_agree(object_->window != nullptr)) {
        if (object_->window != nullptr) {
            const EngineGuard guard(runtime.lock());
            runtime.process().destroy_window(*object_->window);
        }
        return false;
    }
    return true;
}

} // namespace

host::memory::SharedRange share_brought(const WindowInfo& info, const void* base,
                                        std::size_t bytes) noexcept
{
    using host::memory::IfPrivate;
    return host::memory::share(base, bytes, info.share_policy(),
                               settings().kernel_copy == kernel_copy_never ? IfPrivate::leave
                                                                           : IfPrivate::keep);
}

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
    if (!settings().enable || !is_local_intracommunicator(request.comm, members, rank)) {
        return nullptr;
    }
    WindowObject* made = Creation(request, members, rank).run();
    if (made == nullptr) {
        return nullptr;
    }
    Runtime& runtime = Runtime::instance();
    WindowObject& object = *made;
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
