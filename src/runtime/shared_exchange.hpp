// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "fabric/mapped/mapped_fabric.hpp"
#include "host/node/exchange.hpp"
#include "host/node/exchange_page.hpp"
#include "host/node/memory.hpp"

namespace sidelight::runtime {

/// Members on one node that tell one another something in memory. Each waits there as in any
/// blocking call: it sweeps, lets the host progress, and sleeps; and it looks now and then whether
/// those that it waits for are still there.
class SharedExchange final : public host::node::Exchange {
public:
    /// What a member knows of the others when it is made.
    struct Parts {
        host::node::NodeMemory memory;              ///< its common part has room for the page
        std::vector<int> peers;                     ///< of all members, as the fabric numbers them
        std::vector<fabric::PeerAddress> addresses; ///< likewise
        int index = 0;
    };

    /// Collective over `comm`, by the host; null, on all members alike, where it is not possible.
    [[nodiscard]] static std::shared_ptr<SharedExchange> make(MPI_Comm comm) noexcept;

    explicit SharedExchange(Parts parts) noexcept;
    ~SharedExchange() override;

    [[nodiscard]] int members() const noexcept override;
    [[nodiscard]] int index() const noexcept override;
    [[nodiscard]] bool gather(const void* mine, void* all, std::size_t bytes) noexcept override;
    [[nodiscard]] bool find_least(std::span<const std::uint64_t> mine,
                                  std::span<std::uint64_t> least) noexcept override;
    [[nodiscard]] bool lost() const noexcept override { return lost_; }

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool tell(std::span<const std::byte> mine) noexcept;
    void wake_others() noexcept;
    [[nodiscard]] bool look_for_lost() noexcept;

    host::node::NodeMemory memory_;
    std::vector<int> peers_;
    std::vector<fabric::PeerAddress> addresses_;
    host::node::ExchangePage page_;
    Clock::time_point next_look_; ///< for members that have ended
    bool lost_ = false;
};

} // namespace sidelight::runtime
