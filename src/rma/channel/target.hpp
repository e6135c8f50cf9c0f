// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/accumulate/accumulates.hpp"
#include "rma/channel/channels.hpp"
#include "rma/channel/credit.hpp"
#include "rma/channel/scattered_memory.hpp"
#include "rma/region/own_memory.hpp"

namespace sidelight::rma {

/// The target's side of operations that travel: does what messages ask of this member's memory.
/// Nothing in a message is trusted: what does not fit into that memory, or into the protocol,
/// changes nothing. Guarded by the engine.
class TargetSide {
public:
    /// `own`: this member, as accumulates see it.
    TargetSide(Channels& channels, Credit& credit, OwnMemory& memory, Accumulates& accumulates,
               const AccumulateTarget& own) noexcept
        : channels_(channels),
          credit_(credit),
          memory_(memory),
          accumulates_(accumulates),
          own_(own)
    {}

    void serve_put(Channel& from, const PutBody& body, std::span<const std::byte> payload) noexcept;
    void serve_get(Channel& from, const GetBody& body) noexcept;
    void serve_accumulate(Channel& from, const AccumulateBody& body,
                          std::span<const std::byte> payload) noexcept;
    // The same for several blocks of memory.
    void serve_put(Channel& from, const PutScatteredBody& body,
                   std::span<const std::byte> payload) noexcept;
    void serve_get(Channel& from, const GetScatteredBody& body,
                   std::span<const std::byte> payload) noexcept;
    void serve_accumulate(Channel& from, const AccumulateScatteredBody& body,
                          std::span<const std::byte> payload) noexcept;
    void serve_compare_and_swap(Channel& from, const CompareAndSwapBody& body,
                                std::span<const std::byte> payload) noexcept;

    /// Where the payload of a zero-copy put goes; null: nowhere.
    [[nodiscard]] std::byte* place_put(Channel& from, const PutBody& body,
                                       std::size_t bytes) noexcept;
    void put_placed(Channel& from, const PutBody& body) noexcept;
    /// The fabric has lost the member: `put_placed` is not called for what it has sent.
    void end_uses(const Channel& channel) noexcept;

    /// A fragment that acknowledgements count was performed here, or will not be.
    void performed(Channel& from, std::uint64_t operation, bool acknowledge,
                   Status status) noexcept;

private:
    void refuse(Channel& from, std::uint64_t operation, Status status,
                bool counted = false) noexcept;
    void reply(Channel& from, std::uint64_t operation, std::uint64_t position,
               std::span<const std::byte> data) noexcept;
    void reply_zero_copy(Channel& from, const GetBody& body,
                         std::span<const std::byte> data) noexcept;
    void end_accumulate(Channel& from, const AccumulateBody& body, Status status) noexcept;
    /// What is left of serving one whose memory has been found.
    void combine(Channel& from, const AccumulateBody& body, std::span<const std::byte> payload,
                 const datatype::Buffer& memory) noexcept;

    Channels& channels_;
    Credit& credit_;
    OwnMemory& memory_;
    Accumulates& accumulates_;
    AccumulateTarget own_;
    ScatteredMemory scattered_; ///< of the fragment that is served
};

} // namespace sidelight::rma
