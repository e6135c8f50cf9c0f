// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/window_members.hpp"

#include <chrono>
#include <new>
#include <utility>

#include "base/process_end.hpp"
#include "base/settings.hpp"
#include "rma/epoch/control.hpp"

namespace sidelight::runtime {

WindowMembers::WindowMembers(host::node::NodeMemory& memory, std::vector<Greeting> greetings,
                             std::optional<host::node::MemberTable> member_table,
                             fabric::JoinedFabric& fabric, host::node::KeptMappings* kept)
    : memory_(memory),
      greetings_(std::move(greetings)),
      member_table_(member_table),
      fabric_(fabric),
      kept_(kept)
{
    brought_by_.resize(greetings_.size());
    copied_.resize(greetings_.size());
    processes_.resize(greetings_.size());
    neighbours_.reserve(greetings_.size());
    for (const Greeting& greeting : greetings_) {
        neighbours_.push_back(greeting.rank);
    }
    if (member_table_) {
        node_ = member_table_->member(neighbours_.front()).node;
    }
}

void WindowMembers::bring(int rank, std::byte* base) noexcept
{
    bringer_ = rank;
    brought_ = base;
}

std::span<const std::int32_t> WindowMembers::leaders() const noexcept
{
    return member_table_ ? member_table_->leaders() : neighbours().first(1);
}

std::uint64_t WindowMembers::window_id() const noexcept
{
    return member_table_ ? member_table_->member(0).window : greetings_.front().window;
}

int WindowMembers::size() const noexcept
{
    return static_cast<int>(member_table_ ? member_table_->members().size() : greetings_.size());
}

std::optional<std::size_t> WindowMembers::index_here(int rank) const noexcept
{
    if (!member_table_) {
        return static_cast<std::size_t>(rank);
    }
    const host::node::MemberRecord& record = member_table_->member(rank);
    return record.node == node_ ? std::optional<std::size_t>(record.index) : std::nullopt;
}

/// What a member has brought, where others may map it; null where it cannot be mapped.
std::byte* WindowMembers::map_brought(std::size_t index) noexcept
{
    const FileRange& where = greetings_[index].where;
    Mapping& mapping = brought_by_[index];
    if (!mapping && kept_ != nullptr && greetings_[index].lasts) {
        mapping = kept_->take(where);
    }
    if (!mapping) {
        mapping = Mapping::of(where);
    }
    return mapping.data();
}

void WindowMembers::leave_mappings() noexcept
{
    for (std::size_t index = 0; kept_ != nullptr && index < brought_by_.size(); ++index) {
        if (brought_by_[index] && greetings_[index].lasts) {
            kept_->put(greetings_[index].where, std::move(brought_by_[index]));
        }
    }
}

/// From how many bytes on the kernel is quicker than messages: docs/design/kernel-copies.md. It is
/// the machine's, so it is measured with the first neighbour and not with each one of each window.
fabric::Worthwhile WindowMembers::worth_copying(pid_t owner, std::uint64_t address) noexcept
{
    using namespace std::chrono_literals;
    constexpr std::size_t among_others = 8192;
    constexpr std::size_t alone = 1024; // a target that listens answers 1 us sooner; others do not
    constexpr std::size_t piece = 2048; // for each the kernel takes half a microsecond
    constexpr auto round_trip = 1us;    // of a message between two cores
    const int set = settings().kernel_copy;
    if (set != kernel_copy_as_measured) {
        const auto least = static_cast<std::size_t>(set);
        return {.among_others = least, .alone = least, .piece = 0};
    }
    static const bool quick = fabric::copy_time(owner, address) < round_trip;
    return {.among_others = among_others, .alone = quick ? 0 : alone, .piece = piece};
}

/// Whether the kernel copies from and to the process.
bool WindowMembers::may_copy(const Greeting& from) noexcept
{
    return from.identity_at != 0 && settings().kernel_copy != kernel_copy_never &&
           fabric_.copies(from.peer, from.identity_at);
}

fabric::RemoteMemory* WindowMembers::process_memory(int rank) noexcept
{
    const std::optional<std::size_t> index = index_here(rank);
    if (!index) {
        return nullptr;
    }
    const Greeting& from = greetings_[*index];
    auto& memory = processes_[*index];
    if (!memory) {
        memory.emplace(may_copy(from)
                           ? new (std::nothrow)
                                 fabric::CopiedMemory(from.peer.bell.owner, 0, fabric::Worthwhile{})
                           : nullptr);
    }
    return *memory != nullptr && (*memory)->usable() ? memory->get() : nullptr;
}

/// Private memory that the kernel can copy to and from.
void WindowMembers::find_copied(std::size_t index, rma::Member& found)
{
    const Greeting& from = greetings_[index];
    if (copied_[index] == nullptr && from.copied && may_copy(from)) {
        const pid_t owner = from.peer.bell.owner;
        copied_[index] = std::make_unique<fabric::CopiedMemory>(
            owner, from.base, worth_copying(owner, from.identity_at));
    }
    found.remote = copied_[index].get();
}

void WindowMembers::find_here(int rank, std::size_t index, rma::Member& found) noexcept
{
    const Greeting& from = greetings_[index];
    const int number = static_cast<int>(index);
    found.control = reinterpret_cast<rma::Control*>(memory_.control(number));
    found.number = static_cast<std::uint32_t>(index);
    found.base = memory_.base(number);
    found.size = from.bytes;
    found.disp_unit = from.disp_unit;
    found.mapped = !from.brings;
    if (rank == bringer_) {
        found.base = brought_;
        found.mapped = true;
    } else if (from.brings && from.shared) {
        found.base = map_brought(index);
        found.mapped = found.base != nullptr;
    }
}

bool WindowMembers::has_ended(int rank) noexcept
{
    const bool is_rank = rank >= 0 && rank < size();
    const std::optional<std::size_t> index = is_rank ? index_here(rank) : std::nullopt;
    if (!index) {
        return false;
    }
    const fabric::PeerAddress& peer = greetings_[*index].peer;
    return sidelight::has_ended(peer.bell, peer.started);
}

Status WindowMembers::find(int rank, rma::Member& found) noexcept
{
    fabric::PeerAddress peer{.bell = {.descriptor = -1}};
    std::span<const std::byte> address;
    if (const auto index = index_here(rank)) {
        peer = greetings_[*index].peer;
        find_here(rank, *index, found);
    }
    if (member_table_) {
        const host::node::MemberRecord& record = member_table_->member(rank);
        peer.identity = record.identity;
        address = member_table_->address(rank);
        found.size = record.bytes;
        found.disp_unit = record.disp_unit;
    }
    try {
        found.peer = fabric_.meet(peer, address);
        if (const auto index = index_here(rank); index && !found.mapped) {
            find_copied(*index, found);
        }
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    const bool reachable = found.mapped || member_table_;
    return reachable ? Status::ok : Status::no_memory;
}

} // namespace sidelight::runtime
