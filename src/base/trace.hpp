// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

/// What a trace is made of, and who takes it down. The format of its files:
/// docs/reference/trace-format.md; what it costs and why it is as it is: docs/design/trace.md.
namespace sidelight::trace {

/// What has happened. The numbers are those of the files.
enum class Event : std::uint8_t {
    window_made = 1, ///< detail: its flavor; peer: rank in it; epoch: its size; value: its name
    window_member,   ///< peer: rank in the window; value: rank in the job, of one that has it. By
                     ///< its rank 0 alone
    window_freed,
    call_entered, ///< detail: which CallKind; peer: the rank it names, or -1; value: where it was
                  ///< called from, an address
    call_left,    ///< detail, peer: as above; value: how it ended, 0: well
    epoch_opened, ///< detail: which kind, with `exclusive` if it is one; peer: the first of its
                  ///< peers, or -1; value: how many
    epoch_activated, ///< it asks its peers, or grants
    epoch_granted,   ///< peer: by whom, -1: by all at once; value: 1: it was the last one missing
    epoch_closed,    ///< by the program
    epoch_completed, ///< by the engine
    operation, ///< has been issued, and performed where that is at once; detail: which kind; peer:
               ///< its target; value: bytes at the target
    moved,     ///< a sweep of this thread has found something to do; of no window
    slept,     ///< this thread goes to sleep; of no window
    woken,     ///< and goes on; value: 1: somebody rang
    request_begun, ///< the program has a request; detail: of what, a RequestKind; value: its handle
    request_ended, ///< by the call that the thread is in, or a test that is not noted; value: as
                   ///< above
    epoch_ungranted, ///< peer: one that has not granted it when it completes, for it had nothing to
                     ///< do there
    notified,        ///< the operation before it raises a counter of its target: value: which
    counter_awaited, ///< by the request that the call begins; epoch: which counter; value: until it
                     ///< has reached that
    counter_reset,   ///< to zero; epoch: which counter; value: what it was, if that was not zero
};

/// The calls that a trace knows, and a bit for their nonblocking form.
enum class CallKind : std::uint8_t {
    fence = 1,
    post,
    start,
    complete,
    wait,
    test, ///< if it has ended the exposure, or failed; noted behind that
    lock,
    unlock,
    lock_all,
    unlock_all,
    flush,
    flush_local,
    flush_all,
    flush_local_all,
    free,
    request, ///< one that waits for requests, of which the window's are some: MPI_Wait and its like
    notify,  ///< a notified operation: MPI_Put_notify and its like
    notify_threshold,
    set_num_notify,
    nonblocking = 0x80,
};

/// What a request is of.
enum class RequestKind : std::uint8_t {
    call_or_operation, ///< the nonblocking call that the thread is in, or else its last operation
    notification,      ///< a counter of the window
};

/// In the detail of the events of an epoch: it is an exclusive lock.
inline constexpr unsigned exclusive = 0x80;

/// 32 bytes, in the byte order of the machine.
struct Record {
    std::uint64_t time = 0; ///< in ticks of the file; whoever takes it down sets it
    Event event{};
    std::uint8_t detail = 0;
    std::uint16_t unused = 0;
    std::int32_t peer = -1;
    std::uint32_t window = 0; ///< its number in this process, from 1 on; 0: of no window
    std::uint32_t epoch = 0;  ///< its number in the window, by opening; 0: of none
    std::uint64_t value = 0;
};
static_assert(sizeof(Record) == 32);

/// Takes records down. Any thread.
class Recorder {
public:
    virtual void note(Record record) noexcept = 0;

protected:
    ~Recorder() = default;
};

/// Whether this thread is one of the library's.
inline thread_local bool own_thread = false;

/// The recorder of this process, for those who know of no window; null: nothing is traced. Set
/// once, before any of them runs; it stays until the process ends.
inline std::atomic<Recorder*> of_process{nullptr};

/// A window that is traced; without a recorder it is not.
struct Track {
    Recorder* recorder = nullptr;
    std::uint32_t window = 0;

    explicit operator bool() const noexcept { return recorder != nullptr; }
    /// `record.window` is filled in.
    void note(Record record) const noexcept
    {
        record.window = window;
        recorder->note(record);
    }
};

} // namespace sidelight::trace
