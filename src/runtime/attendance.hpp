// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/engine.hpp"

namespace sidelight::runtime {

/// While it lives nobody calls the interrupt thread: a thread of the program, which may wait, looks
/// after things. Without the engine.
class Attendance {
public:
    [[gnu::always_inline]] explicit Attendance(Engine& engine) noexcept
        : engine_(engine), is_to_end_(engine.begin_attendance())
    {}
    [[gnu::always_inline]] ~Attendance()
    {
        if (is_to_end_) [[unlikely]] {
            engine_.end_attendance();
        }
        engine_.leave_handlers();
    }
    Attendance(const Attendance&) = delete;
    Attendance& operator=(const Attendance&) = delete;

private:
    Engine& engine_;
    bool is_to_end_;
};

/// A call of the program's that may leave something to be moved, from its beginning to its end,
/// waits included. It is made before the call's attendance. Without the engine.
class CallNote {
public:
    [[gnu::always_inline]] explicit CallNote(Engine& engine) noexcept : engine_(engine)
    {
        if (engine.notes_calls()) [[unlikely]] {
            engine.recall().came();
        }
    }
    [[gnu::always_inline]] ~CallNote()
    {
        if (engine_.notes_calls()) [[unlikely]] {
            engine_.recall().leaves(engine_.process().waits());
        }
    }
    CallNote(const CallNote&) = delete;
    CallNote& operator=(const CallNote&) = delete;

private:
    Engine& engine_;
};

} // namespace sidelight::runtime
