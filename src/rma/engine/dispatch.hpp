// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/channel/acknowledgements.hpp"
#include "rma/channel/target.hpp"
#include "rma/epoch/barrier.hpp"
#include "rma/epoch/notices.hpp"
#include "rma/epoch/notifications.hpp"
#include "rma/operation/active_messages.hpp"
#include "rma/operation/native.hpp"

namespace sidelight::rma {

/// Hands each message of a window to the owner of what it is about, by a table with a row for each
/// kind. Nothing in a message is trusted: one from somebody else than it says, or too short for its
/// kind, is dropped. Guarded by the engine.
class Dispatch final : public ChannelObserver {
public:
    struct Owners {
        Contacts& contacts;
        Channels& channels;
        TargetSide& target;
        Origin& origin;
        ActiveMessages& active;
        Acknowledgements& acknowledgements;
        Credit& credit;
        Notices& notices;
        LockServer& locks;
        Barrier& barrier;
        NativeAccesses& native;
        NotificationCounters& counters;
        Notifications& notifications;
    };
    explicit Dispatch(const Owners& owners) noexcept : to_(owners) {}

    void receive(int peer, const Message& message) noexcept;
    /// Where the payload of a zero-copy message goes; null: nowhere.
    [[nodiscard]] std::byte* place(int peer, const Message& message, std::size_t bytes) noexcept;
    void placed(const Message& message, std::size_t bytes) noexcept;

    void unreachable(int rank) noexcept override;
    void zero_copy_taken(Channel& channel) noexcept override;

private:
    void serve(Channel& from, const Message& message) noexcept;
    void hold(Channel& from, const Message& message) noexcept;
    [[nodiscard]] Channel* sender(int peer, const MessageHeader& header) noexcept;

    Owners to_;
};

} // namespace sidelight::rma
