// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/channel/active_origin.hpp"
#include "rma/channel/channels.hpp"
#include "rma/channel/credit.hpp"
#include "rma/channel/fragments.hpp"
#include "rma/channel/life.hpp"

namespace sidelight::rma {

/// The origin's side of operations that travel: each becomes messages to the target's engine, one
/// for each fragment, and is complete when all have been answered. Guarded by the engine.
class Origin {
public:
    Origin(Channels& channels, Credit& credit, OperationLife& life, ActiveOrigin& active) noexcept
        : channels_(channels), credit_(credit), life_(life), active_(active)
    {}

    /// Sends an operation whose turn has come, or lets it wait for those before it. `address`:
    /// offset in the target's memory. It may be gone on return.
    void launch(Op& op, Channel& target, std::size_t address) noexcept;
    /// The same for one that was tried on another road and is before all that wait.
    void launch_again(Op& op, Channel& target, std::size_t address) noexcept;

    /// Sends an operation that needs no record of its own: it is complete with the one that was
    /// sent last. Answers whether that may be; its origin's side is complete on return. Not for one
    /// with a request that waits for the target.
    [[nodiscard]] bool join(const Operation& operation, const Epoch& epoch, std::uint32_t peer,
                            Channel& target, std::size_t address) noexcept;

    /// Something of it has come back. Sends the notification that it owes, if that was the last.
    void notify_behind(Flight& flight) noexcept;

    /// Sends what waits for this target, in order of issue, as far as it may.
    void launch_more(Channel& target) noexcept;

private:
    [[nodiscard]] Flight* take_flight(Op& op, Channel& target, std::size_t address) noexcept;
    [[nodiscard]] bool is_row_full(const Channel& target) const noexcept;
    void send_order(Channel& target) noexcept;
    void send_fragments(Flight& flight) noexcept;
    void send_fragment(Flight& flight) noexcept;
    void send_one_block(Flight& flight, std::span<std::byte, fragment_bytes> staging) noexcept;
    void send_scattered(Flight& flight, const Scattered& blocks,
                        std::span<std::byte, fragment_bytes> staging) noexcept;
    [[nodiscard]] PutBody begin_put(Flight& flight, std::uint64_t address, bool last) noexcept;
    [[nodiscard]] static GetBody begin_get(Flight& flight, std::uint64_t address,
                                           std::size_t length) noexcept;
    [[nodiscard]] AccumulateBody begin_accumulate(Flight& flight, const Operation& operation,
                                                  std::size_t length, bool last) noexcept;
    void send_put(Flight& flight, std::uint64_t address, std::span<const std::byte> data,
                  bool last) noexcept;
    void send_zero_copy_put(Flight& flight, std::size_t length) noexcept;
    void send_get(Flight& flight, std::size_t length) noexcept;
    void send_accumulate(Flight& flight, const Operation& operation, std::uint64_t address,
                         std::size_t length, std::span<const std::byte> data, bool last) noexcept;
    void send_compare_and_swap(Flight& flight) noexcept;
    void sent_whole(Flight& flight) noexcept;
    void send_notification(Flight& flight) noexcept;
    static void zero_copy_left(fabric::Completion& self, Status status) noexcept;

    Channels& channels_;
    Credit& credit_;
    OperationLife& life_;
    ActiveOrigin& active_;
};

} // namespace sidelight::rma
