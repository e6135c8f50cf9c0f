// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/active/call.hpp"
#include "rma/active/exclusion.hpp"
#include "rma/active/rules.hpp"
#include "rma/operation.hpp"
#include "rma/operation/mapped.hpp"

/// The direct path of active messages: the thread that issues one runs its handler at once, on
/// mapped memory, without the engine. What may not be done so goes the long way.
namespace sidelight::rma {

/// Bytes of its input, of which the handler gets a copy on the stack.
inline constexpr std::size_t most_direct_input = 1024;

/// Where such a message goes, and what a segment of it takes.
struct DirectActive {
    int target = 0;
    std::int64_t displacement = 0;
    std::uint64_t bytes = 0; ///< of the target's memory, at least one
    std::uint64_t room = 0;
};

/// What a handler has that runs on the direct path.
struct DirectStay {
    std::byte* memory = nullptr; ///< of the target
    Exclusion::Hold hold{};      ///< false: it may not run, and nothing has happened
};

/// Whether it is one for the direct path: few bytes without holes, on both sides and at the target,
/// in one call of the handler, by a window that is not ordered.
[[nodiscard]] bool is_for_direct_path(const Operation& operation, const ActiveCall& call,
                                      const ActiveLimits& limits) noexcept;

/// To enter is the barrier before the handler. `others_wait`: Process::has_active(). It is asked
/// when the target is found to be open, and so sees what was recorded before that.
template <class OthersWait>
[[nodiscard, gnu::always_inline]] inline DirectStay
enter_directly(Mapped& mapped, Exclusion& exclusion, const DirectActive& message,
               OthersWait others_wait) noexcept
{
    std::byte* memory = mapped.memory(message.target, message.displacement, message.bytes);
    if (memory == nullptr || !rules::active_may_run_directly(others_wait())) {
        return {};
    }
    Exclusion::Hold hold = rules::active_enters_shared(mapped.is_concurrent(message.target))
                               ? exclusion.try_share(message.target)
                               : exclusion.try_enter(message.target, false, 0);
    if (hold && message.room > hold.block->largest_room.load(std::memory_order_acquire))
        [[unlikely]] {
        Exclusion::leave(hold);
    }
    return {.memory = memory, .hold = hold};
}

/// The barrier behind the handler is left to the next flush, before which nobody may rely on what
/// it has done.
[[gnu::always_inline]] inline void leave_directly(Mapped& mapped, DirectStay& stay) noexcept
{
    Exclusion::leave(stay.hold);
    mapped.made_plain_access();
}

} // namespace sidelight::rma
