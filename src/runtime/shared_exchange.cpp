// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/shared_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "base/process_end.hpp"
#include "runtime/runtime.hpp"

namespace sidelight::runtime {

using host::node::ExchangePage;

namespace {

constexpr std::chrono::milliseconds look_each{500};

/// Room for what is told while the exchange is made.
struct Draft {
    explicit Draft(std::size_t members) : memory(members), addresses(members), peers(members) {}

    host::node::MemoryRoom memory;
    std::vector<fabric::PeerAddress> addresses;
    std::vector<int> peers;
};

std::optional<Draft> make_draft(int members) noexcept
{
    try {
        return std::optional<Draft>(std::in_place, static_cast<std::size_t>(members));
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

bool meet_all(Draft& draft) noexcept
{
    try {
        const EngineToken token(Runtime::instance().engine());
        fabric::JoinedFabric& fabric = Runtime::instance().engine().fabric();
        std::transform(draft.addresses.begin(), draft.addresses.end(), draft.peers.begin(),
                       [&](const fabric::PeerAddress& one) { return fabric.meet(one, {}); });
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

} // namespace

std::shared_ptr<SharedExchange> SharedExchange::make(MPI_Comm comm) noexcept
{
    host::node::HostExchange host(comm);
    const int members = host.members();
    std::optional<Draft> draft = make_draft(members);
    if (!host.agree(draft.has_value())) {
        return nullptr;
    }
    std::optional<host::node::NodeMemory> memory = host::node::allocate_node_memory(
        host, {.common_bytes = ExchangePage::bytes(static_cast<std::size_t>(members))},
        std::move(draft->memory));
    if (!memory ||
        !host.exchange(Runtime::instance().engine().fabric().address(), draft->addresses)) {
        return nullptr;
    }
    std::shared_ptr<SharedExchange> made;
    if (meet_all(*draft)) {
        try {
            made = std::make_shared<SharedExchange>(Parts{.memory = std::move(*memory),
                                                          .peers = std::move(draft->peers),
                                                          .addresses = std::move(draft->addresses),
                                                          .index = host.index()});
        } catch (const std::bad_alloc&) {
            made = nullptr;
        }
    }
    return host.agree(made != nullptr) ? made : nullptr;
}

SharedExchange::SharedExchange(Parts parts) noexcept
    : memory_(std::move(parts.memory)),
      peers_(std::move(parts.peers)),
      addresses_(std::move(parts.addresses)),
      page_(memory_.common(), peers_.size(), static_cast<std::size_t>(parts.index))
{}

/// Others may still want to use it: this member has forgotten it before they did.
SharedExchange::~SharedExchange()
{
    page_.leave();
    wake_others();
}

int SharedExchange::members() const noexcept { return static_cast<int>(page_.members()); }

int SharedExchange::index() const noexcept { return static_cast<int>(page_.index()); }

void SharedExchange::wake_others() noexcept
{
    Runtime* runtime = Runtime::existing();
    if (runtime == nullptr) {
        return;
    }
    const EngineToken token(runtime->engine());
    for (std::size_t member = 0; member < peers_.size(); ++member) {
        if (member != page_.index()) {
            runtime->engine().fabric().wake(peers_[member], {});
        }
    }
}

/// One that has died tells nothing any more, and nobody tells of it: the others wait for a word in
/// memory.
bool SharedExchange::look_for_lost() noexcept
{
    const Clock::time_point now = Clock::now();
    if (now >= next_look_) {
        next_look_ = now + look_each;
        lost_ = std::any_of(addresses_.begin(), addresses_.end(),
                            [](const auto& one) { return has_ended(one.bell, one.started); });
    }
    return lost_;
}

/// False: a member has left, or is lost.
bool SharedExchange::tell(std::span<const std::byte> mine) noexcept
{
    if (lost_) {
        return false;
    }
    if (page_.tell(mine)) {
        wake_others();
        return true;
    }
    next_look_ = Clock::now() + look_each;
    Runtime::existing()->waiting().until(
        [this] { return page_.all_told() || page_.is_abandoned() || look_for_lost(); });
    return page_.all_told();
}

bool SharedExchange::gather(const void* mine, void* all, std::size_t bytes) noexcept
{
    if (bytes > most_bytes || !tell({static_cast<const std::byte*>(mine), bytes})) {
        return false;
    }
    for (std::size_t member = 0; member < page_.members(); ++member) {
        std::memcpy(static_cast<std::byte*>(all) + member * bytes, page_.told_by(member), bytes);
    }
    return true;
}

bool SharedExchange::find_least(std::span<const std::uint64_t> mine,
                                std::span<std::uint64_t> least) noexcept
{
    if (!tell(std::as_bytes(mine))) {
        return false;
    }
    std::fill(least.begin(), least.end(), ~std::uint64_t{0});
    for (std::size_t member = 0; member < page_.members(); ++member) {
        const std::byte* told = page_.told_by(member);
        for (std::uint64_t& one : least) {
            std::uint64_t word = 0;
            std::memcpy(&word, told, sizeof word);
            told += sizeof word;
            one = std::min(one, word);
        }
    }
    return true;
}

} // namespace sidelight::runtime
