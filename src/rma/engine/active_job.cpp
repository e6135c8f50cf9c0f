// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/active_job.hpp"

#include "base/cpu.hpp"
#include "rma/engine/process.hpp"
#include "rma/engine/window_parts.hpp"

namespace sidelight::rma {

namespace {

/// Of that window: one of another process, or of this one.
bool take_from(Window& window, ActiveJob& job) noexcept
{
    ActiveMessages& active = window.parts().active;
    job = {.window = &window};
    const auto take_incoming = [&] {
        job.incoming = active.target.take(job.invocation);
        if (job.incoming == nullptr) {
            return false;
        }
        job.from = job.incoming->from;
        job.more = active.target.has_more_than(*job.incoming);
        return true;
    };
    const auto take_here = [&] {
        job.here = active.here.take();
        return job.here != nullptr;
    };
    return active.here_first ? take_here() || take_incoming() : take_incoming() || take_here();
}

} // namespace

bool Process::take_active(ActiveJob& job) noexcept
{
    finish_left();
    const bool any = shared_.with_active.load(std::memory_order_relaxed) != 0;
    for (Window* window = any ? shared_.busy.front() : nullptr; window != nullptr;
         window = shared_.busy.after(*window)) {
        if (take_from(*window, job)) {
            if (++active_taken_ % most_active_in_a_row == 0) {
                window->parts().active.here_first = job.incoming != nullptr;
                shared_.busy.put_last(*window);
            }
            return true;
        }
    }
    return false;
}

/// The barriers are those of P5, section IV.E.3: the handler sees what was written before, and who
/// hears that it has run sees what it wrote.
void Process::run_active(const ActiveJob& job, ActiveCaller& caller) noexcept
{
    if (job.here != nullptr) {
        job.window->parts().active.here.run(*job.here, caller);
        return;
    }
    full_barrier();
    caller.call(job.invocation);
    full_barrier();
}

bool Process::finish_active(const ActiveJob& job) noexcept
{
    WindowParts& parts = job.window->parts();
    if (job.here != nullptr) {
        parts.active.here.finish(*job.here);
        return false;
    }
    const bool alone = !parts.active.target.room_is_waited_for();
    parts.active.target.finish(*job.incoming);
    return alone;
}

void Process::leave_active(const ActiveJob& job) noexcept
{
    ActiveRun& left = job.here != nullptr ? job.here->left : job.incoming->left;
    left = {.window = job.window, .here = job.here, .incoming = job.incoming};
    shared_.active_runs.push(left);
}

/// What is left keeps its window, which waits for the end of its handlers.
bool Process::finish_left() noexcept
{
    if (!shared_.active_runs.any()) [[likely]] {
        return false;
    }
    for (ActiveRun* left = shared_.active_runs.take_all(); left != nullptr;) {
        const ActiveRun run = *left; // it may be gone when it is finished
        finish_active({.window = run.window, .here = run.here, .incoming = run.incoming});
        left = run.next;
    }
    return true;
}

} // namespace sidelight::rma
