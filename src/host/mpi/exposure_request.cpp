// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/exposure_request.hpp"

#include <atomic>
#include <new>
#include <thread>

#include "host/mpi/completed_request.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/requests.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::host::mpi {

namespace {

/// What stands behind one request.
struct Exposure {
    MPI_Win win{};
    MPI_Request handle = MPI_REQUEST_NULL;
    bool over = false;
    std::atomic<int> holders{1}; ///< the host's request, and the list
    Exposure* next = nullptr;
};

void let_go(Exposure* exposure) noexcept
{
    if (exposure->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete exposure;
    }
}

/// Completes the request if the epoch is over. An error, which the window's handler has seen, is an
/// end as well: nobody shall wait for ever.
bool test(Exposure& exposure) noexcept
{
    int flag = 0;
    if (!exposure.over && (table().Win_test(exposure.win, &flag) != MPI_SUCCESS || flag != 0)) {
        exposure.over = true;
        table().Grequest_complete(exposure.handle);
    }
    return exposure.over;
}

int freed(void* state) noexcept
{
    let_go(static_cast<Exposure*>(state));
    return MPI_SUCCESS;
}

int poll(void* state, MPI_Status* /*status*/) noexcept
{
    if (!test(*static_cast<Exposure*>(state))) {
        std::this_thread::yield();
    }
    return MPI_SUCCESS;
}

int wait(int count, void** states, double /*timeout*/, MPI_Status* status) noexcept
{
    for (int i = 0; i < count; ++i) {
        poll(states[i], status);
    }
    return MPI_SUCCESS;
}

/// Open MPI: what its progress loop tests for us. Guarded by `list_in_use`, which nobody waits for
/// inside of the loop: to test lets the host progress, and comes back here.
Exposure* first_pending = nullptr;
std::atomic_flag list_in_use = ATOMIC_FLAG_INIT;

int test_all() noexcept
{
    if (list_in_use.test_and_set(std::memory_order_acquire)) {
        return 0;
    }
    int ended = 0;
    for (Exposure** place = &first_pending; *place != nullptr;) {
        Exposure* exposure = *place;
        if (test(*exposure)) {
            *place = exposure->next;
            let_go(exposure);
            ++ended;
        } else {
            place = &exposure->next;
        }
    }
    list_in_use.clear(std::memory_order_release);
    return ended;
}

/// Puts `test_all` into the host's loop, where it stays until MPI ends; where it is nothing
/// changes. Whether there is such a loop.
bool enter_loop() noexcept
{
    using Register = int(int (*)());
    static auto* const add = reinterpret_cast<Register*>(find_symbol("opal_progress_register"));
    return add != nullptr && add(test_all) == 0;
}

void add_to_list(Exposure* exposure) noexcept
{
    while (list_in_use.test_and_set(std::memory_order_acquire)) {
        std::this_thread::yield();
    }
    exposure->next = first_pending;
    first_pending = exposure;
    list_in_use.clear(std::memory_order_release);
}

Status start(MPI_Win win, MPI_Request* handle) noexcept
{
    ExtendedStart* extended = find_extended_start();
    if (extended == nullptr && !enter_loop()) {
        return Status::unsupported;
    }
    auto* exposure = new (std::nothrow) Exposure;
    if (exposure == nullptr) {
        return Status::no_memory;
    }
    exposure->win = win;
    const int code =
        extended != nullptr
            ? extended(query_nothing, freed, ignore_cancel, poll, wait, exposure, &exposure->handle)
            : table().Grequest_start(query_nothing, freed, ignore_cancel, exposure,
                                     &exposure->handle);
    if (code != MPI_SUCCESS) {
        delete exposure;
        return Status::other;
    }
    *handle = exposure->handle;
    if (extended == nullptr) {
        exposure->holders.fetch_add(1, std::memory_order_relaxed);
        add_to_list(exposure);
    }
    return Status::ok;
}

} // namespace

int create_exposure_request(MPI_Win win, MPI_Request* handle) noexcept
{
    int flag = 0;
    const int code = table().Win_test(win, &flag);
    if (code != MPI_SUCCESS) {
        return code;
    }
    return answer_window(flag != 0 ? CompletedRequest::create(handle) : start(win, handle), win);
}

} // namespace sidelight::host::mpi
