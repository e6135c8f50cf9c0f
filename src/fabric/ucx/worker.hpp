// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/arming.hpp"
#include "fabric/ucx/library.hpp"

namespace sidelight::fabric::ucx {

/// One context and one worker of UCX, from their settings to their end. What is done with them,
/// the other owners do, each with the library and the handles from here.
class Worker {
public:
    /// `transports`: as UCX_TLS, or "auto". Throws std::runtime_error with UCX's reason.
    Worker(const Library& ucx, const std::string& transports);
    /// Destroys both unless they are gone.
    ~Worker() { destroy(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    [[nodiscard]] const Library& ucx() const noexcept { return ucx_; }
    [[nodiscard]] ucp_context_h context() const noexcept { return context_; }
    [[nodiscard]] ucp_worker_h handle() const noexcept { return worker_; }

    /// What UCX may choose of, as UCX_TLS, or "auto".
    [[nodiscard]] const std::string& transports() const noexcept { return transports_; }
    /// How others reach it.
    [[nodiscard]] std::span<const std::byte> address() const noexcept { return address_; }
    /// So long the header of an active message may be.
    [[nodiscard]] std::size_t max_header() const noexcept { return max_header_; }
    /// Whether it has transports that access memory by hardware.
    [[nodiscard]] bool has_hardware() const noexcept { return hardware_; }
    /// Whether the choice of transports leaves room for shared memory.
    [[nodiscard]] bool may_share_memory() const noexcept { return may_share_memory_; }
    [[nodiscard]] std::string description() const;

    /// Active messages of that number go to `callback`, with `owner`. Throws std::runtime_error.
    void receive_messages(unsigned id, ucp_am_recv_callback_t callback, void* owner);

    /// Gives back a payload that nobody fetches.
    void release(void* descriptor) noexcept { ucx_.am_data_release(worker_, descriptor); }

    /// Lets UCX work. Answers whether there was anything to do.
    bool progress() noexcept
    {
        ++progressed_;
        at_rest_ = ucx_.worker_progress(worker_) == 0;
        return !at_rest_;
    }
    /// How often that was so far.
    [[nodiscard]] std::uint64_t progressed() const noexcept { return progressed_; }

    [[nodiscard]] int event_fd() const noexcept { return event_fd_; }
    /// As NetworkFabric::arm.
    [[nodiscard]] Arming arm() noexcept;

    /// Asks that everything leaves, to the kernel or the network's hardware.
    void start_flush() noexcept;
    [[nodiscard]] bool is_flushed() const noexcept { return !flushing_; }

    [[nodiscard]] bool is_gone() const noexcept { return worker_ == nullptr; }
    /// Ends both; UCX faults where endpoints are busy.
    void destroy() noexcept;
    /// Leaves both, as they are, to the end of the process.
    void leave() noexcept;

private:
    void make_context(bool registrations);
    void make_worker();
    static void on_flushed(void* request, ucs_status_t status, void* worker) noexcept;

    const Library& ucx_;
    std::string transports_;
    bool may_share_memory_;
    bool hardware_ = false;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    int event_fd_ = -1;
    std::size_t max_header_ = 0;
    std::vector<std::byte> address_;
    bool flushing_ = false;
    std::uint64_t progressed_ = 0;
    bool at_rest_ = false; ///< it had nothing to do in its last turn
};

} // namespace sidelight::fabric::ucx
