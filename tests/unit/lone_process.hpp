// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "datatype/basic_layout.hpp"
#include "fabric/remote_memory.hpp"
#include "rma/engine/process.hpp"

/// One process alone, that believes to have peers: what it does with what it is told.
namespace sidelight::rma {

/// Of a peer; nothing gets there.
class UnreachedMemory final : public fabric::RemoteMemory {
public:
    UnreachedMemory() noexcept : RemoteMemory({}, true) {}
    fabric::Access put(std::span<const fabric::AccessPiece> /*pieces*/,
                       fabric::Completion& /*done*/) noexcept override
    {
        return fabric::Access::failed;
    }
    fabric::Access get(std::span<const fabric::AccessPiece> /*pieces*/,
                       fabric::Completion& /*done*/) noexcept override
    {
        return fabric::Access::failed;
    }
};

/// Counts what is sent and keeps the last of it; nothing is carried. Needs no memory.
class CountingFabric final : public fabric::Fabric {
public:
    Status send(int peer, std::span<const std::byte> header,
                std::span<const std::byte> /*payload*/) noexcept override
    {
        if (peer == unreachable) {
            return Status::no_memory;
        }
        last_peer = peer;
        count(header);
        std::memcpy(last.data(), header.data(), std::min(header.size(), last.size()));
        return answer;
    }
    void push() noexcept override { ++pushes; }
    Status send_zero_copy(int peer, std::span<const std::byte> header,
                          std::span<const std::byte> /*payload*/,
                          fabric::Completion& sent) noexcept override
    {
        if (peer == unreachable || long_answer != Status::ok) {
            return long_answer != Status::ok ? long_answer : Status::no_memory;
        }
        count(header);
        leaving = &sent;
        return Status::ok;
    }
    bool poll(fabric::Receiver& /*receiver*/) noexcept override { return false; }
    std::unique_ptr<fabric::RemoteMemory> open(int /*peer*/,
                                               std::span<const std::byte> /*key*/) noexcept override
    {
        return std::unique_ptr<fabric::RemoteMemory>(opens ? new (std::nothrow) UnreachedMemory
                                                           : nullptr);
    }

    bool expose(std::span<std::byte> /*memory*/, fabric::ExposedMemory& exposed) noexcept override
    {
        exposed.key_bytes = exposes ? 1 : 0;
        return exposes;
    }

    [[nodiscard]] bool has_come() const noexcept override
    {
        ++looks;
        return comes;
    }

    bool comes = false;    ///< a message has come
    mutable int looks = 0; ///< so often somebody has asked
    bool opens = false;    ///< memory of peers, whatever the key
    bool exposes = false;  ///< memory of this process
    int pushes = 0;
    Status answer = Status::ok;      ///< to everything that is sent
    Status long_answer = Status::ok; ///< to long messages
    int unreachable = -1;            ///< nothing can be sent to that peer
    int last_peer = -1;
    std::array<std::byte, 64> last{};              ///< header and body
    std::array<int, message_kinds> sent_by_kind{}; ///< so many
    fabric::Completion* leaving = nullptr;         ///< the long message that was sent last

    /// That one has left.
    void let_leave()
    {
        fabric::Completion& sent = *std::exchange(leaving, nullptr);
        sent.finished(sent, Status::ok);
    }
    [[nodiscard]] int sent(MessageKind kind) const
    {
        return sent_by_kind[static_cast<std::size_t>(kind)];
    }

    [[nodiscard]] MessageKind last_kind() const
    {
        MessageHeader header;
        std::memcpy(&header, last.data(), sizeof header);
        return header.kind;
    }
    template <class Body>
    [[nodiscard]] Body last_body() const
    {
        Body body;
        std::memcpy(&body, last.data() + sizeof(MessageHeader), sizeof body);
        return body;
    }

private:
    void count(std::span<const std::byte> header)
    {
        MessageHeader copy;
        std::memcpy(&copy, header.data(), sizeof copy);
        ++sent_by_kind[static_cast<std::size_t>(copy.kind)];
    }
};

/// This process is rank 0; each rank is on a node of its own, but for those that are brought near.
class ThreeNodes final : public Members {
public:
    ThreeNodes()
    {
        for (One& member : members_) {
            member.block.resize(Control::bytes(3) / sizeof(Line));
            Control::create(member.block.data());
        }
        bring_near(0);
    }

    /// From now on it is on the node of this process.
    void bring_near(int rank) { members_.at(static_cast<std::size_t>(rank)).near = true; }

    Status find(int rank, Member& found) noexcept override
    {
        One& one = members_.at(static_cast<std::size_t>(rank));
        found.size = sizeof one.memory;
        found.peer = rank;
        found.mapped = one.near && !dynamic;
        found.base = found.mapped ? one.memory.data() : nullptr;
        found.control = one.near ? &control(rank) : nullptr;
        found.number = static_cast<std::uint32_t>(rank);
        found.remote = remote;
        return Status::ok;
    }

    [[nodiscard]] Control& control(int rank)
    {
        return *reinterpret_cast<Control*>(
            members_.at(static_cast<std::size_t>(rank)).block.data());
    }

    bool dynamic = false;                   ///< what a member has is what it attaches
    fabric::RemoteMemory* remote = nullptr; ///< of those that are not mapped

private:
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    struct One {
        std::vector<Line> block;
        std::array<std::byte, 16384> memory{};
        bool near = false;
    };
    std::array<One, 3> members_;
};

/// Of the first word of a member's memory.
inline Operation get_of_word(int target, std::uint64_t& into)
{
    const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
    Operation operation;
    operation.kind = OperationKind::get;
    operation.target = target;
    operation.origin = {&into, &word, 1};
    operation.layout = &word;
    operation.count = 1;
    return operation;
}

class LoneProcess : public testing::Test {
protected:
    explicit LoneProcess(fabric::PeerMemory* memory = nullptr) : process_(fabric_, memory)
    {
        process_.set_messages(true);
    }

    Window& make_window(std::uint64_t id, Flavor flavor = Flavor::allocate,
                        bool no_exclusive_locks = false)
    {
        members_.dynamic = flavor == Flavor::dynamic;
        WindowShape shape;
        shape.id = id;
        shape.flavor = flavor;
        shape.no_exclusive_locks = no_exclusive_locks;
        shape.size = 3;
        shape.members = &members_;
        shape.neighbours = self_;
        shape.barrier = {.word = &word_, .node = 0, .leaders = leaders_};
        return process_.create_window(shape);
    }

    template <class Body>
    void hear(int peer, const Framed<Body>& message)
    {
        process_.receive(peer, message.bytes());
    }
    /// From the member of that number in the fabric and in the window.
    template <class Body = NoBody>
    void hear_from(int rank, std::uint64_t window, MessageKind kind, const Body& body = {})
    {
        hear(rank, Framed<Body>{.header = {.kind = kind,
                                           .origin = static_cast<std::uint32_t>(rank),
                                           .window = window},
                                .body = body});
    }
    /// The other nodes come to a barrier of window 7.
    void let_others_arrive(std::uint64_t barrier)
    {
        hear_from(2, 7, MessageKind::barrier, BarrierBody{.round = 0, .number = barrier});
        hear_from(1, 7, MessageKind::barrier, BarrierBody{.round = 1, .number = barrier});
        process_.progress();
    }

    CountingFabric fabric_;
    ThreeNodes members_;
    BarrierWord word_;
    std::array<std::int32_t, 1> self_{0};
    std::array<std::int32_t, 3> leaders_{0, 1, 2};
    Process process_;
};

} // namespace sidelight::rma
