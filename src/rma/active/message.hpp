// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/list.hpp"
#include "base/status.hpp"
#include "rma/active/call.hpp"
#include "rma/active/exclusion.hpp"
#include "rma/active/ring.hpp"
#include "rma/active/run_list.hpp"
#include "rma/operation.hpp"

namespace sidelight::rma {

struct Flight;

/// The bytes of target memory that a message is about.
struct ActiveRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    [[nodiscard]] bool overlaps(const ActiveRange& other) const noexcept
    {
        return first < other.last && other.first < last;
    }
};

/// What an active message has from its call until it is over, at its origin. From the process's
/// pool; its `Op` names it. Guarded by the engine; while a handler of it runs here, `call`, `op`,
/// `memory` and `hold` are that thread's.
struct ActiveMessage {
    ActiveCall call{};
    Op* op = nullptr;
    ActiveRange range{};

    // --- Run here --------------------------------------------------------------------------------
    std::byte* memory = nullptr; ///< of the target
    const void* handler = nullptr;
    Exclusion::Hold hold{};
    unsigned refused = 0; ///< how often the exclusion was
    bool running = false;
    bool failed_here = false; ///< no memory for what the handler needs
    ActiveRun left{};         ///< while it is left to whoever has the engine next

    // --- Sent ------------------------------------------------------------------------------------
    Flight* flight = nullptr;
    std::size_t least = 0;        ///< bytes that a segment takes there
    std::uint64_t sent = 0;       ///< segments
    std::uint32_t unanswered = 0; ///< pieces
    bool asked = false;           ///< for a reservation
    bool reserved = false;        ///< it has one
    Status failure = Status::ok;
    Ring<4> room{};                 ///< of the reservation
    std::uint64_t arriving = 0;     ///< the piece whose output is coming
    std::size_t arrived = 0;        ///< bytes of that
    std::vector<std::byte> leaving; ///< image of a piece that is sent
    std::vector<std::byte> coming;  ///< of one whose output comes

    Links<ActiveMessage> in_list{}; ///< of those that wait, here or to be sent
    ActiveMessage* next = nullptr;

    [[nodiscard]] bool keeps_order_with(const ActiveMessage& earlier) const noexcept;
    /// For a new use.
    void begin(const ActiveCall& as, Op& of) noexcept;
};

} // namespace sidelight::rma
