// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "base/zeroed_table.hpp"
#include "rma/epoch/contacts.hpp"
#include "rma/epoch/notification_counters.hpp"
#include "rma/operation/direct_counters.hpp"

namespace sidelight::rma {

/// The counters of other members, as an origin sees them. What an operation does by itself, within
/// its call or when its turn comes, it is notified of by itself; what travels notifies by a message
/// behind it (Origin). What is performed without the engine is notified of by DirectCounters,
/// with what was found here. Guarded by the engine.
class Notifications {
public:
    Notifications(Contacts& contacts, NotificationCounters& own, fabric::PeerMemory& memory,
                  Channels& channels) noexcept
        : contacts_(contacts),
          own_(own),
          memory_(memory),
          channels_(channels),
          direct_(contacts.rank())
    {}
    ~Notifications() { forget(); }
    Notifications(const Notifications&) = delete;
    Notifications& operator=(const Notifications&) = delete;

    /// All members set their counters anew, so what is known of them is void. Nobody notifies.
    void forget() noexcept;

    /// All members have set theirs: maps those of this node, as far as they can be had. What is
    /// mapped stays where descriptors are short afterwards, or the program closes its own and ours.
    void open_neighbours() noexcept;
    /// Whether a member that was met has such a counter, as far as that is known here: members
    /// elsewhere look themselves. Not ok, too, where it is on this node and cannot be reached.
    Status check(int rank, std::uint32_t index) noexcept;
    /// Raises one that was checked, behind the loads and stores that it stands for, and wakes its
    /// owner.
    void raise(int rank, std::uint32_t index) noexcept;

    /// For what is performed without the engine.
    [[nodiscard]] DirectCounters& direct() noexcept { return direct_; }

    /// How many a member has, when the request completes. It may have to be asked.
    Status ask(int rank, std::uint32_t* number, Request* request) noexcept;
    void serve_counters(Channel& from, const CountersBody& body) noexcept;
    /// A member is lost. Questions to it end, and so does all that waits for counters of this one:
    /// nobody knows who would have raised them.
    void give_up_lost() noexcept;

private:
    /// Those of a member on this node.
    struct Opened {
        int rank = 0;
        std::byte* data = nullptr; ///< null: this member's own
        FileRange where{};
        std::unique_ptr<OpenCounters> counters{};
    };
    struct Question {
        int rank = 0;
        std::uint32_t* number = nullptr;
        Request* request = nullptr;
    };
    [[nodiscard]] OpenCounters* find(int rank) noexcept
    {
        return open_ != nullptr ? (*open_)[rank].load(std::memory_order_relaxed) : nullptr;
    }
    [[nodiscard]] bool open(int rank, NotificationRoot& root) noexcept;
    [[nodiscard]] bool keep(Opened opened, NotificationBlock* block) noexcept;

    Contacts& contacts_;
    NotificationCounters& own_;
    fabric::PeerMemory& memory_;
    Channels& channels_;
    DirectCounters direct_;
    /// For each member, those that were opened. Made with the first of them.
    std::unique_ptr<ZeroedTable<std::atomic<OpenCounters*>>> open_;
    std::vector<Opened> opened_;
    std::vector<Question> questions_;
};

} // namespace sidelight::rma
