// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fabric/network_fabric.hpp"
#include "fabric/ucx/connections.hpp"
#include "fabric/ucx/delivery.hpp"
#include "fabric/ucx/open_memory.hpp"
#include "fabric/ucx/receiving.hpp"
#include "fabric/ucx/registrations.hpp"
#include "fabric/ucx/sending.hpp"
#include "fabric/ucx/transfers.hpp"
#include "fabric/ucx/worker.hpp"

namespace sidelight::fabric::ucx {

/// Messages by UCX's active messages: one context, one worker, one endpoint for each peer that is
/// sent to. Short messages travel in batches, zero-copy messages alone. docs/design/network.md.
/// A façade: each call goes to the owner of what it is about. What concerns several of them is
/// here: what a poll tells in which order, what the loss of a peer means, and the end.
/// All calls come from the thread that holds the engine, which need not be the same each time.
class UcxFabric final : public NetworkFabric {
public:
    /// Makes context and worker. Throws std::runtime_error with UCX's reason.
    UcxFabric(const Library& ucx, PeerNumbers& numbers, const NetworkOptions& options);
    ~UcxFabric() override;
    UcxFabric(const UcxFabric&) = delete;
    UcxFabric& operator=(const UcxFabric&) = delete;

    [[nodiscard]] std::span<const std::byte> address() const noexcept override
    {
        return worker_.address();
    }
    int meet(std::uint64_t identity, std::span<const std::byte> address) override;

    [[nodiscard]] bool wants_boxes() const noexcept override { return worker_.may_share_memory(); }
    void use_box(int peer, FastOutbox box) override;
    void note_end(int peer) noexcept override;
    void look_everywhere() noexcept override { receiving_.look_everywhere(); }
    [[nodiscard]] bool has_come() const noexcept override { return !receiving_.has_empty_boxes(); }
    [[nodiscard]] bool is_close() const noexcept override { return receiving_.is_close(); }
    /// Of peers on other machines.
    [[nodiscard]] std::size_t zero_copy_from(int /*peer*/) const noexcept override
    {
        constexpr auto over_tcp = std::size_t{24} * 1024; // docs/notes/messages.md
        return worker_.has_hardware() ? 0 : over_tcp;
    }

    Status send(int peer, std::span<const std::byte> header,
                std::span<const std::byte> payload) noexcept override;
    void push() noexcept override;
    Status send_zero_copy(int peer, std::span<const std::byte> header,
                          std::span<const std::byte> payload, Completion& sent) noexcept override;
    bool poll(Receiver& receiver) noexcept override;

    [[nodiscard]] bool accesses(int peer) noexcept override;
    bool expose(std::span<std::byte> memory, ExposedMemory& exposed) noexcept override;
    void conceal(ExposedMemory& exposed) noexcept override;
    std::unique_ptr<RemoteMemory> open(int peer, std::span<const std::byte> key) noexcept override;

    [[nodiscard]] int event_fd() const noexcept override { return worker_.event_fd(); }
    [[nodiscard]] Arming arm() noexcept override;
    bool close(Receiver& receiver, std::chrono::nanoseconds limit) noexcept override;
    [[nodiscard]] std::string description() const override { return worker_.description(); }

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool has_news() const noexcept;
    bool tell_news() noexcept;
    void part_from_failed() noexcept;
    void part_from(Peer& peer) noexcept;
    bool tell_lost() noexcept;
    static void tell_forgotten(Peer& peer) noexcept;

    // closing.cpp
    bool flush(Receiver& receiver, Clock::time_point end) noexcept;
    bool close_connections(Receiver& receiver, Clock::time_point end) noexcept;

    Worker worker_;
    Connections connections_;
    Delivery delivery_;
    Sending sending_;
    Receiving receiving_;
    Registrations registrations_;
    Transfers transfers_;
    OpenMemories open_memories_;
};

} // namespace sidelight::fabric::ucx
