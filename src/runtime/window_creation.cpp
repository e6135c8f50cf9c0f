// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/window_creation.hpp"
#include "runtime/window_table.hpp"

#include <array>
#include <exception>
#include <new>

#include "base/digest.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "datatype/mpi/cache.hpp"
#include "datatype/mpi/predefined.hpp"
#include "host/library_threads.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "host/node/exchange.hpp"
#include "host/node/kept_splits.hpp"
#include "runtime/runtime.hpp"

namespace sidelight::runtime {

namespace {

using rma::Flavor;

bool brings_memory(Flavor flavor) noexcept
{
    return flavor == Flavor::create || flavor == Flavor::dynamic;
}

/// A step of this member alone, which may throw. It answers whether it worked, so that the others
/// can be told in the next exchange, where they would wait for a member that has left.
template <class Step>
bool attempt(Step step) noexcept
{
    try {
        step();
        return true;
    } catch (const std::exception& error) {
        log(LogLevel::warn, "no window of our own: %s", error.what());
        return false;
    }
}

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

/// Room for what the members on one node tell one another, made before they do.
struct Room {
    explicit Room(std::size_t members) : memory(members), greetings(members) {}

    host::node::MemoryRoom memory;
    std::vector<Greeting> greetings;
};

/// With so many members at most the room is made before it is known who is on which node.
constexpr int most_at_first = 1024;

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
    [[nodiscard]] bool find_node(bool alone, std::uint64_t& node) noexcept;
    [[nodiscard]] bool make_room(int members) noexcept;
    [[nodiscard]] int neighbours() const noexcept
    {
        return kept_ ? kept_->split.members : members_;
    }
    bool share_memory(bool wanted);
    void share_brought_memory() noexcept;
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
    bool knows_members_ = false;
    bool carried_ = false; ///< some operations travel as messages
    const char* reason_ = "a member could not make its part"; ///< should it be the host's
    std::shared_ptr<host::node::KeptSplit> kept_;             ///< null unless carried
    std::optional<Room> room_;
    std::optional<host::node::CensusDraft> census_;
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
bool Creation::find_road()
{
    if (members_ == 1) {
        return object_ != nullptr && make_room(1);
    }
    // Memory that is asked for to be shared is, whatever road operations would take.
    const bool alone = settings().route != Route::automatic && request_.flavor != Flavor::shared;
    kept_ = host::node::find_kept_split(request_.comm);
    std::uint64_t node = 0;
    const bool ready = object_ != nullptr && find_node(alone, node) &&
                       make_room(members_ <= most_at_first ? members_ : neighbours());
    const host::node::Survey found =
        host::node::survey(request_.comm, node, ready, kept_ != nullptr);
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
        kept_ = host::node::split_and_keep(request_.comm, node);
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
    census_ = host::node::take_census(request_.comm, kept_->split,
                                      {.identity = runtime.engine().fabric().address().identity,
                                       .bytes = bytes(),
                                       .disp_unit = disp_unit(),
                                       .window = id_},
                                      runtime.engine().fabric().network()->address());
    return census_.has_value();
}

/// What the members on one node share: the barrier's word, the census, their blocks, and their
/// memory where they do not bring it.
bool Creation::get_memory()
{
    constexpr std::size_t census_at = sizeof(rma::BarrierWord);
    const bool contiguous = request_.flavor == Flavor::shared && !object_->info.noncontiguous();
    object_->memory = host::node::allocate_node_memory(
        on_node(),
        {.common_bytes = census_at + (census_ ? census_->bytes() : 0),
         .control_bytes = rma::Control::bytes(static_cast<std::size_t>(members_)),
         .window_bytes =
             brings_memory(request_.flavor) ? 0 : static_cast<std::size_t>(request_.size),
         .placement = contiguous ? host::node::Placement::contiguous : host::node::Placement::pages,
         .alignment = object_->info.minimum_alignment()},
        std::move(room_->memory));
    if (object_->memory) {
        rma::Control::create(object_->memory->control(index()), static_cast<std::size_t>(members_));
        if (index() == 0) {
            new (object_->memory->common()) rma::BarrierWord;
            if (census_) {
                census_->write(object_->memory->common() + census_at);
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

/// After that the words of the members on this node, and the census, are there. Whether there was
/// memory for what they said is told at the end, too.
bool Creation::meet_neighbours()
{
    Runtime& runtime = Runtime::instance();
    const bool brings = request_.flavor == Flavor::dynamic ||
                        (request_.flavor == Flavor::create && request_.size != 0);
    const bool copied = brings && carried_ && settings().kernel_copy != kernel_copy_never;
    const Greeting mine{
        .peer = runtime.engine().fabric().address(),
        .bytes = bytes(),
        .disp_unit = disp_unit(),
        .window = id_,
        .rank = rank_,
        .base =
            request_.flavor == Flavor::create ? reinterpret_cast<std::uintptr_t>(request_.base) : 0,
        .identity_at =
            copied ? reinterpret_cast<std::uintptr_t>(&runtime.engine().fabric().address().identity)
                   : 0,
        .brings = brings,
        .shared = static_cast<bool>(object_->brought),
        .where = object_->brought.where()};
    std::vector<Greeting>& greetings = room_->greetings;
    greetings.resize(static_cast<std::size_t>(neighbours())); // never more
    if (!host::node::exchange(on_node(), mine, greetings)) {
        return false;
    }
    std::optional<host::node::Census> census;
    if (census_) {
        census.emplace(object_->memory->common() + sizeof(rma::BarrierWord), census_->members,
                       census_->nodes);
    }
    knows_members_ = attempt([&] {
        object_->members.emplace(*object_->memory, std::move(greetings), census,
                                 runtime.engine().fabric());
    });
    if (knows_members_ && brings_memory(request_.flavor)) {
        object_->members->bring(rank_, request_.flavor == Flavor::create
                                           ? static_cast<std::byte*>(request_.base)
                                           : nullptr);
    }
    return true;
}

/// Nobody leaves before all have the window, so that no message comes too early for it. What sweeps
/// beside the program is there before, so that the engine makes the window for it.
bool Creation::create()
{
    Engine& engine = Runtime::instance().engine();
    const bool made = has_handle_ && knows_members_ && attempt([&] {
                          Runtime::instance().helpers().start();
                          const EngineToken token(engine);
                          const rma::WindowShape shape = shape_of(*object_, request_, rank_);
                          object_->window = &engine.process().create_window(shape);
                          window_table::insert(*object_);
                      });
    if (all_agree(made)) {
        return true;
    }
    window_table::remove(*object_);
    if (object_->window != nullptr) {
        const EngineToken token(engine);
        engine.process().destroy_window(*object_->window);
    }
    return false;
}

} // namespace

host::memory::SharedRange share_brought(WindowObject& object, const void* base,
                                        std::size_t bytes) noexcept
{
    host::memory::SharedRange range = host::memory::share(base, bytes, object.info.share_policy());
    if (!range && !object.told_private) {
        object.told_private = true;
        log(LogLevel::info,
            "%zu bytes at %p of a window are private: %s. Others reach them by copies of the kernel "
            "and messages; memory of MPI_Win_allocate or MPI_Alloc_mem they would map, and this "
            "with SIDELIGHT_SHARE_MEMORY=inplace, if it is whole pages",
            bytes, base, host::memory::text(range.refusal()));
    }
    return range;
}

WindowObject* make_together(const WindowRequest& request, int members, int rank)
{
    return Creation(request, members, rank).run();
}

} // namespace sidelight::runtime
