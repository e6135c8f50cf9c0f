// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "fabric/peer_memory.hpp"
#include "rma/attention.hpp"
#include "rma/channel/channel.hpp"
#include "rma/channel/wire.hpp"
#include "rma/epoch/control.hpp"
#include "rma/operation/notification_block.hpp"
#include "rma/request.hpp"

namespace sidelight::rma {

/// The counters of this member, and who waits for them. They come into being when the program asks
/// for some. Guarded by the engine, but for the counters themselves.
class NotificationCounters {
public:
    NotificationCounters(NotificationRoot& root, fabric::PeerMemory& memory,
                         Attention& attention) noexcept
        : root_(root), memory_(memory), attention_(attention)
    {}
    ~NotificationCounters();
    NotificationCounters(const NotificationCounters&) = delete;
    NotificationCounters& operator=(const NotificationCounters&) = delete;

    /// So many, all zero, in place of those that there are; without memory for them, none. While
    /// members may notify this one it must not be called. Whoever waits for an old one hears that
    /// it is gone.
    Status set(std::uint32_t number) noexcept;
    [[nodiscard]] std::uint32_t number() const noexcept
    {
        return block() != nullptr ? block()->number() : 0;
    }
    /// Null: there are none.
    [[nodiscard]] NotificationBlock* block() const noexcept
    {
        return block_.load(std::memory_order_acquire);
    }

    /// Acquires what is counted. Needs no engine.
    Status value(std::uint32_t index, std::uint64_t& found) const noexcept;
    /// Makes it zero. What it has reached, whoever waits for that hears of.
    Status reset(std::uint32_t index, std::uint64_t& found) noexcept;
    /// The request completes when the counter has reached the value.
    Status await(std::uint32_t index, std::uint64_t expected, Request* request) noexcept;
    /// Completes the requests that wait for what has been reached. Answers whether there were any.
    /// From then on whoever reaches what is waited for tells this member.
    bool look() noexcept;
    /// The same for the threshold that was asked for last, if it was not looked for before; and
    /// nobody is to tell.
    bool peek() noexcept;
    [[nodiscard]] bool has_newest() const noexcept { return newest_.request != nullptr; }
    /// Ends all that are left. None can be reached any more.
    void give_up(Status status) noexcept;
    [[nodiscard]] bool awaited() const noexcept { return has_newest() || !awaited_.empty(); }

    /// A notification has come by message. It counts when its operation's zero-copy puts are here.
    Status serve(Channel& from, const NotifyBody& body) noexcept;
    /// A zero-copy put of that member has come.
    void let_count(const Channel& from) noexcept;

private:
    struct Threshold {
        std::uint64_t expected = 0;
        Request* request = nullptr;
    };
    /// What is waited for of one counter: a heap, the lowest first.
    using Thresholds = std::vector<Threshold>;
    /// By counter.
    using Awaited = std::map<std::uint32_t, Thresholds>;
    /// The threshold that was asked for last, until the next look.
    struct Newest {
        std::uint32_t index = 0;
        std::uint64_t expected = 0;
        Request* request = nullptr; ///< null: there is none
    };
    [[nodiscard]] static bool is_later(const Threshold& one, const Threshold& other) noexcept
    {
        return one.expected > other.expected;
    }
    void raise(std::uint32_t index) noexcept;
    static bool complete_up_to(std::uint64_t value, Thresholds& thresholds) noexcept;
    static void await_lowest(NotificationCounter& counter, const Thresholds& thresholds) noexcept;
    bool complete_reached(Awaited::iterator& at) noexcept;
    [[nodiscard]] bool file_newest() noexcept;
    void note_awaited() noexcept { attention_.set(Reason::notification, awaited()); }

    NotificationRoot& root_;
    fabric::PeerMemory& memory_;
    Attention& attention_;
    std::atomic<NotificationBlock*> block_{nullptr}; ///< written with the engine
    FileRange where_{};
    Newest newest_;
    Awaited awaited_;
    /// Notifications that have come too early: of each origin as many as a Series spans, at most.
    std::unordered_map<const Channel*, std::vector<NotifyBody>> early_;
};

} // namespace sidelight::rma
