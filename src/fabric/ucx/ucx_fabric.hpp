// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fabric/network_fabric.hpp"
#include "fabric/remote_memory.hpp"
#include "fabric/ucx/outgoing.hpp"

namespace sidelight::fabric::ucx {

class OpenMemory;

/// Messages by UCX's active messages: one context, one worker, one endpoint for each peer that is
/// sent to. Short messages travel in batches, zero-copy messages alone. docs/design/network.md.
/// All calls come from the thread that holds the engine, which need not be the same each time.
class UcxFabric final : public NetworkFabric {
public:
    /// Makes context and worker. Throws std::runtime_error with UCX's reason.
    UcxFabric(const Library& ucx, PeerNumbers& numbers, const NetworkOptions& options);
    ~UcxFabric() override;
    UcxFabric(const UcxFabric&) = delete;
    UcxFabric& operator=(const UcxFabric&) = delete;

    [[nodiscard]] std::span<const std::byte> address() const noexcept override { return address_; }
    int meet(std::uint64_t identity, std::span<const std::byte> address) override;

    [[nodiscard]] bool wants_boxes() const noexcept override { return uses_boxes_; }
    void use_box(int peer, FastOutbox box) override;
    void look_everywhere() noexcept override { boxes_only_ = 0; }
    [[nodiscard]] bool is_close() const noexcept override { return boxes_only_ != 0; }

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

    [[nodiscard]] int event_fd() const noexcept override { return event_fd_; }
    [[nodiscard]] bool arm() noexcept override;
    bool close(Receiver& receiver, std::chrono::nanoseconds limit) noexcept override;
    [[nodiscard]] std::string description() const override;

private:
    friend class OpenMemory;
    using Clock = std::chrono::steady_clock;
    struct ZeroCopyReceive;

    // ucx_fabric.cpp
    void make_context(const std::string& transports, bool registrations);
    void make_worker();
    bool progress() noexcept;
    bool take_boxes() noexcept;
    [[nodiscard]] bool has_news() const noexcept;
    bool tell_news() noexcept;
    Peer& peer_of(int number);
    Peer& sender_of(std::uint64_t identity);

    // sending.cpp
    Batch* take_batch() noexcept;
    void depart(Outgoing& item) noexcept;
    void depart_open_batch(Peer& peer) noexcept;
    static bool put_into_box(Outgoing& item) noexcept;
    void start(Outgoing& item) noexcept;
    void retire(Outgoing& item, ucs_status_t status) noexcept;
    bool tell_finished() noexcept;
    static void link(ZeroCopyMessage& message) noexcept;
    static void unlink(ZeroCopyMessage& message) noexcept;
    static void on_sent(void* request, ucs_status_t status, void* item) noexcept;

    // connecting.cpp
    void connect(Peer& peer) noexcept;
    void connect_requested() noexcept;
    void fail(Peer& peer, ucs_status_t status) noexcept;
    bool tell_lost() noexcept;
    void abandon(Peer& peer) noexcept;
    void request_connection(Peer& peer) noexcept;
    void close_endpoint(Peer& peer) noexcept;
    static void on_closed(void* request, ucs_status_t status, void* peer) noexcept;
    bool tell_closed() noexcept;
    static void on_error(void* peer, ucp_ep_h endpoint, ucs_status_t status) noexcept;

    // receiving.cpp
    static ucs_status_t on_batch(void* fabric, const void* header, size_t header_bytes, void* data,
                                 size_t bytes, const ucp_am_recv_param_t* param) noexcept;
    static ucs_status_t on_zero_copy(void* fabric, const void* header, size_t header_bytes,
                                     void* data, size_t bytes,
                                     const ucp_am_recv_param_t* param) noexcept;
    static void on_placed(void* request, ucs_status_t status, size_t bytes, void* receive) noexcept;
    ucs_status_t take_zero_copy(std::span<const std::byte> message, void* data, std::size_t bytes,
                                bool is_descriptor);
    void take_batch_of(Peer& peer, std::uint64_t sequence, std::span<const std::byte> frames);
    void hand_over(Peer& peer, std::span<const std::byte> frames) noexcept;
    void hand_over_early(Peer& peer);
    bool hand_over_ready();
    bool may_hand_over() const noexcept { return receiver_ != nullptr && !handing_over_; }
    void note_ready(Peer& peer);
    void place_copy(Peer& peer, std::span<const std::byte> header,
                    std::span<const std::byte> payload) noexcept;
    bool place_descriptor(Peer& peer, std::span<const std::byte> header, void* descriptor,
                          std::size_t bytes);
    void conclude(ZeroCopyReceive& receive, ucs_status_t status) noexcept;
    bool tell_placed() noexcept;

    // remote_access.cpp
    [[nodiscard]] bool asks_hardware(const std::vector<std::string>& transports) const noexcept;
    std::size_t pack_key(ucp_mem_h memory, std::uint64_t base, std::span<std::byte> key) noexcept;
    Access start_access(OpenMemory& memory, bool put, std::span<const AccessPiece> pieces,
                        Completion& done) noexcept;
    static void link(Transfer& transfer) noexcept;
    void start_piece(OpenMemory& memory, Transfer& transfer, const AccessPiece& piece) noexcept;
    void request_flush(Peer& peer) noexcept;
    void flush_requested() noexcept;
    void flush_peer(Peer& peer) noexcept;
    void flushed(Peer& peer, ucs_status_t status) noexcept;
    void end_if_over(Transfer& transfer) noexcept;
    bool tell_accessed() noexcept;
    void abandon_accesses(Peer& peer) noexcept;
    void tell_closed_accesses(Peer& peer) noexcept;
    void close_memory(bool ended) noexcept;
    void free_transfers() noexcept;
    static void on_accessed(void* request, ucs_status_t status, void* transfer) noexcept;
    static void on_peer_flushed(void* request, ucs_status_t status, void* peer) noexcept;

    // closing.cpp
    template <typename Condition>
    bool poll_until(Receiver& receiver, Clock::time_point end, Condition condition) noexcept;
    [[nodiscard]] bool is_idle() const noexcept;
    static void on_flushed(void* request, ucs_status_t status, void* fabric) noexcept;
    bool flush(Receiver& receiver, Clock::time_point end) noexcept;
    bool close_endpoints(Receiver& receiver, Clock::time_point end) noexcept;

    const Library& ucx_;
    PeerNumbers& numbers_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    int event_fd_ = -1;
    std::size_t max_header_ = 0;
    std::string transports_;
    std::pair<std::uint64_t, Peer*> latest_sender_{0, nullptr}; ///< its identity
    FastInbox* inbox_;                                          ///< null: none has a box
    bool uses_boxes_;                ///< the choice of transports leaves room for shared memory
    unsigned boxes_only_ = 0;        ///< looks that are at boxes, but for one in some
    bool always_access_;             ///< also where UCX does it by messages
    bool hardware_ = false;          ///< the context has transports that access memory
    std::vector<ucp_mem_h> exposed_; ///< memory of this process
    std::vector<OpenMemory*> open_;  ///< memory of peers
    std::vector<std::byte> address_;

    std::vector<std::unique_ptr<Peer>> peers_; ///< by number; empty where UCX has none
    std::vector<Peer*> held_;                  ///< with an open batch
    std::vector<Peer*> to_connect_;            ///< first sent to by a handler
    std::vector<Peer*> failed_;                ///< and not told yet
    std::vector<Peer*> closed_;                ///< whose endpoint is gone
    std::vector<Peer*> ready_;
    OutgoingList spare_batches_;
    OutgoingList finished_; ///< zero-copy messages, and not told yet
    OutgoingList accessed_; ///< transfers, and not told yet
    OutgoingList spare_transfers_;
    std::vector<Peer*> to_flush_;
    std::vector<ZeroCopyReceive*> placed_; ///< and not told yet
    std::size_t ending_ = 0;               ///< endpoints that close, flushes

    Receiver* receiver_ = nullptr; ///< while polling
    bool handing_over_ = false;    ///< the receiver is being called
    alignas(frame_alignment) std::array<std::byte, Batch::capacity> aligned_{};
};

} // namespace sidelight::fabric::ucx
