// SPDX-License-Identifier: BSD-3-Clause
#include "base/lock_slot.hpp"

namespace sidelight {

namespace {

constinit NumberPool pool(lock_slots);

/// What a thread has, until it ends. It has no destructor, so that it can be asked at any time.
constexpr std::size_t not_asked = lock_slots + 1;
thread_local std::size_t own = not_asked;

struct GivesBack {
    ~GivesBack()
    {
        if (own < lock_slots) {
            pool.give_back(static_cast<unsigned>(own));
        }
        own = lock_slots;
    }
};

} // namespace

std::size_t lock_slot_of_thread() noexcept
{
    if (own == not_asked) [[unlikely]] {
        own = pool.take().value_or(lock_slots);
        thread_local const GivesBack at_the_end;
    }
    return own;
}

} // namespace sidelight
