// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

#include "messages/calls.hpp"
#include "messages/entry.hpp"
#include "messages/messages.hpp"

/// The calls that start, complete and free requests which the program has already. A completing
/// call overwrites the handles of what it has freed, and the host may give them to others at once:
/// so those that are looked after are noted before the call.
namespace sidelight::messages {
namespace {

struct Noted {
    int index;
    Handle handle;
    LiveRequests::Serial serial;
};

class Watch {
public:
    Watch(Messages& messages, const MPI_Request* requests, int count) noexcept
        : messages_(messages), requests_(requests), newest_(messages.requests().newest())
    {
        if (requests == nullptr || messages.requests().empty()) {
            return;
        }
        if (count > most_copied) {
            note_all(count, [requests](int index) { return handle_of(requests[index]); });
            return;
        }
        for (; copied_ < count; ++copied_) {
            copies_[static_cast<std::size_t>(copied_)] = handle_of(requests[copied_]);
        }
    }
    ~Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// After the call. `complete` says of an index whether the call has completed that request.
    template <class IsComplete>
    void settle(IsComplete complete) noexcept
    {
        note_copied();
        for (const Noted& one : noted_) {
            if (requests_[one.index] == MPI_REQUEST_NULL) {
                messages_.requests().forget(one.handle, one.serial);
            } else if (complete(one.index)) {
                messages_.requests().complete(one.handle, one.serial);
            }
        }
    }
    /// The call has failed: what is over is seen from the requests that are left, where they may be
    /// asked for. One that is over and not known to be is looked after in vain.
    void settle_failed() noexcept
    {
        settle([this](int index) {
            return may_ask_for_requests && is_over(messages_.ask_status(), requests_[index]);
        });
    }
    void settle_all(Word code) noexcept
    {
        if (is_success(code)) {
            settle([](int) { return true; });
        } else {
            settle_failed();
        }
    }
    void settle_none() noexcept
    {
        settle([](int) { return false; });
    }
    void settle_any(Word code, const int* which) noexcept
    {
        if (is_success(code)) {
            settle([which](int index) { return index == *which; });
        } else {
            settle_failed();
        }
    }
    void settle_some(Word code, const int* count, const int* indices) noexcept
    {
        if (is_success(code)) {
            settle_none();
            for (int i = 0; i < *count && !noted_.empty(); ++i) { // MPI_UNDEFINED is below zero
                complete(indices[i]);
            }
        } else {
            settle_failed();
        }
    }

    /// All were started, and may have other handles now.
    void start() noexcept
    {
        note_copied();
        for (const Noted& one : noted_) {
            messages_.requests().start(one.handle, one.serial, handle_of(requests_[one.index]));
            messages_.has_started();
        }
    }

private:
    static constexpr int most_copied = 64;

    template <class HandleAt>
    void note_all(int count, HandleAt handle_at) noexcept
    {
        messages_.requests().find_each(
            count, newest_, handle_at,
            [this](int index, Handle handle, LiveRequests::Serial serial) {
                return note({index, handle, serial});
            });
    }
    /// Only when the call is over, so that one in vain costs no look-up. What has been handed out
    /// meanwhile, by another thread or by what the host has called, has a newer serial number.
    void note_copied() noexcept
    {
        if (copied_ > 0) {
            note_all(std::exchange(copied_, 0),
                     [this](int index) { return copies_[static_cast<std::size_t>(index)]; });
        }
    }
    /// Answers false where memory has run out: what cannot be noted is not looked after.
    bool note(const Noted& one) noexcept
    {
        try {
            noted_.push_back(one);
            return true;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }
    void complete(int index) noexcept
    {
        const auto one = std::lower_bound(noted_.begin(), noted_.end(), index,
                                          [](const Noted& a, int b) { return a.index < b; });
        if (one != noted_.end() && one->index == index) {
            messages_.requests().complete(one->handle, one->serial);
        }
    }

    Messages& messages_;
    const MPI_Request* requests_;
    const LiveRequests::Serial newest_;      ///< before the call
    std::array<Handle, most_copied> copies_; ///< the first `copied_`
    int copied_ = 0;
    std::vector<Noted> noted_; ///< by index; few are large: as a rule it takes no memory
};

} // namespace

SIDELIGHT_OWN Word own_Wait(MPI_Request* request, MPI_Status* status) noexcept
{
    return attended([&](Messages& messages) {
        Watch watch(messages, request, 1);
        const Word code = hand_on(Call::Wait, request, status);
        watch.settle_all(code);
        return code;
    });
}

SIDELIGHT_OWN Word own_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept
{
    return attended([&](Messages& messages) {
        Watch watch(messages, requests, count);
        const Word code = hand_on(Call::Waitall, count, requests, statuses);
        watch.settle_all(code);
        return code;
    });
}

SIDELIGHT_OWN Word own_Waitany(int count, MPI_Request* requests, int* index,
                               MPI_Status* status) noexcept
{
    return attended([&](Messages& messages) {
        Watch watch(messages, requests, count);
        const Word code = hand_on(Call::Waitany, count, requests, index, status);
        watch.settle_any(code, index);
        return code;
    });
}

SIDELIGHT_OWN Word own_Waitsome(int count, MPI_Request* requests, int* done, int* indices,
                                MPI_Status* statuses) noexcept
{
    return attended([&](Messages& messages) {
        Watch watch(messages, requests, count);
        const Word code = hand_on(Call::Waitsome, count, requests, done, indices, statuses);
        watch.settle_some(code, done, indices);
        return code;
    });
}

SIDELIGHT_OWN Word own_Test(MPI_Request* request, int* flag, MPI_Status* status) noexcept
{
    return polled([&](Messages& messages, InPoll& poll) {
        Watch watch(messages, request, 1);
        const Word code = hand_on(Call::Test, request, flag, status);
        if (!is_success(code) || *flag != 0) {
            poll.has_found();
            watch.settle_all(code);
        }
        return code;
    });
}

SIDELIGHT_OWN Word own_Testall(int count, MPI_Request* requests, int* flag,
                               MPI_Status* statuses) noexcept
{
    return polled([&](Messages& messages, InPoll& poll) {
        Watch watch(messages, requests, count);
        const Word code = hand_on(Call::Testall, count, requests, flag, statuses);
        if (!is_success(code) || *flag != 0) {
            poll.has_found();
            watch.settle_all(code);
        }
        return code;
    });
}

SIDELIGHT_OWN Word own_Testany(int count, MPI_Request* requests, int* index, int* flag,
                               MPI_Status* status) noexcept
{
    return polled([&](Messages& messages, InPoll& poll) {
        Watch watch(messages, requests, count);
        const Word code = hand_on(Call::Testany, count, requests, index, flag, status);
        if (!is_success(code) || *flag != 0) {
            poll.has_found();
            watch.settle_any(code, index);
        }
        return code;
    });
}

SIDELIGHT_OWN Word own_Testsome(int count, MPI_Request* requests, int* done, int* indices,
                                MPI_Status* statuses) noexcept
{
    return polled([&](Messages& messages, InPoll& poll) {
        Watch watch(messages, requests, count);
        const Word code = hand_on(Call::Testsome, count, requests, done, indices, statuses);
        if (!is_success(code) || *done != 0) {
            poll.has_found();
            watch.settle_some(code, done, indices);
        }
        return code;
    });
}

/// Under way or not: the program has it no more, so nobody looks after it.
SIDELIGHT_OWN Word own_Request_free(MPI_Request* request) noexcept
{
    return attended([&](Messages& messages) {
        Watch watch(messages, request, 1);
        Messages::frees_request();
        const Word code = hand_on(Call::Request_free, request);
        watch.settle_none();
        return code;
    });
}

/// A request that is found complete stays the program's, and is looked after no more.
SIDELIGHT_OWN Word own_Request_get_status(MPI_Request request, int* flag,
                                          MPI_Status* status) noexcept
{
    return polled([&](Messages& messages, InPoll& poll) {
        const Word code = hand_on(Call::Request_get_status, handle_of(request), flag, status);
        if (is_success(code) && *flag != 0) {
            poll.has_found();
            const Handle handle = handle_of(request);
            messages.requests().found_complete(handle, messages.requests().find(handle));
        }
        return code;
    });
}

SIDELIGHT_OWN Word own_Start(MPI_Request* request) noexcept
{
    return attended([&](Messages& messages) {
        Watch watch(messages, request, 1);
        const Word code = hand_on(Call::Start, request);
        if (is_success(code)) {
            watch.start();
        }
        return code;
    });
}

SIDELIGHT_OWN Word own_Startall(int count, MPI_Request* requests) noexcept
{
    return attended([&](Messages& messages) {
        Watch watch(messages, requests, count);
        const Word code = hand_on(Call::Startall, count, requests);
        if (is_success(code)) {
            watch.start();
        }
        return code;
    });
}

} // namespace sidelight::messages
