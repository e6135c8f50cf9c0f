// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "base/log.hpp"
#include "host/node/member_table.hpp"
#include "host/node/memory.hpp"
#include "host/node/node_communicator_cache.hpp"
#include "runtime/window_create.hpp"

namespace sidelight::runtime {

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

/// No process gets more from the kernel, unless it asks for addresses above these.
inline constexpr MPI_Aint most_addresses = MPI_Aint{1} << 47;

/// Room for what the members on one node tell one another, made before they do.
struct Room {
    explicit Room(std::size_t members) : memory(members), greetings(members), records(members) {}

    host::node::MemoryRoom memory;
    std::vector<Greeting> greetings;
    std::vector<host::node::MemberRecord> records;
};

/// One window that is being made. Each step is collective and answers alike on all members: also
/// one that runs out of memory takes part in all of it, and the others hear of that.
class Creation {
public:
    /// `wrong`: what is the matter with this member's arguments.
    Creation(const WindowRequest& request, Status wrong, int members, int rank) noexcept
        : request_(request), refused_(wrong), members_(members), rank_(rank), by_host_(request.comm)
    {}

    /// The new window; null if it was refused, or is for the host to make.
    WindowObject* run();
    /// What is the matter with the arguments of a member, or with where the members are.
    [[nodiscard]] Status refused() const noexcept { return refused_; }

private:
    bool find_route();
    [[nodiscard]] host::node::Survey ask_all(std::uint64_t node, bool ready,
                                             host::node::CanBeMapped mapped) noexcept;
    bool learn_split(std::uint64_t node, bool all_know);
    [[nodiscard]] bool find_node(bool alone, std::uint64_t& node) noexcept;
    [[nodiscard]] bool make_room(int members) noexcept;
    [[nodiscard]] int neighbours() const noexcept
    {
        return carried_ ? kept_->split->members : members_;
    }
    [[nodiscard]] host::node::CanBeMapped tell_memory(bool alone) noexcept;
    [[nodiscard]] bool is_shared() const noexcept;
    void share_brought_memory() noexcept;
    bool open_network();
    bool know_members();
    bool take_member_table();
    bool get_memory();
    bool nobody_could() noexcept;
    void make_handle() noexcept;
    void keep_exchange(std::shared_ptr<host::node::Exchange> exchange) noexcept;
    bool meet_neighbours();
    bool create();
    bool all_agree(bool mine) noexcept;
    /// All members.
    [[nodiscard]] host::node::Exchange& all() noexcept
    {
        return in_memory_ ? *in_memory_ : by_host_;
    }
    /// Those on this member's node.
    [[nodiscard]] host::node::Exchange& here() noexcept { return on_node_ ? *on_node_ : all(); }
    /// Of this member's memory, as the window is made.
    [[nodiscard]] std::uint64_t bytes() const noexcept
    {
        return request_.flavor == rma::Flavor::dynamic ? 0
                                                       : static_cast<std::uint64_t>(request_.size);
    }
    [[nodiscard]] std::uint64_t disp_unit() const noexcept
    {
        return static_cast<std::uint64_t>(request_.disp_unit);
    }
    [[nodiscard]] int index() const noexcept { return carried_ ? kept_->split->index : rank_; }
    /// Null: none is needed.
    [[nodiscard]] const host::node::MemberTableDraft* member_table() const noexcept
    {
        return carried_ ? &*kept_->member_table : nullptr;
    }

    [[nodiscard]] WindowBody& body() const noexcept { return *object_->body; }

    const WindowRequest& request_;
    Status refused_;
    int members_;
    int rank_;
    WindowObject* object_ = nullptr;
    bool has_handle_ = false;
    bool one_node_ = false;
    bool of_world_ = false; ///< it ends with MPI_Finalize, on all members
    bool carried_ = false;  ///< some operations travel as messages
    const char* reason_ = "a member could not make its part"; ///< should it be the host's
    host::node::HostExchange by_host_;
    std::optional<host::node::HostExchange> on_node_;     ///< where others are on another node
    std::shared_ptr<host::node::NodeCommunicators> kept_; ///< null: of one member, or no memory
    std::shared_ptr<host::node::Exchange> in_memory_;     ///< of `kept_`, until all is made
    std::optional<Room> room_;
    std::uint64_t id_ = 0;
};

/// Whether a window of this kind is over memory that the program brings.
[[nodiscard]] inline bool brings_memory(rma::Flavor flavor) noexcept
{
    return flavor == rma::Flavor::create || flavor == rma::Flavor::dynamic;
}

} // namespace sidelight::runtime
