// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/errors.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <type_traits>

#include <sys/mman.h>

#include "base/shared_memory.hpp"
#include "host/mpi/fortran_handles.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::host::mpi {

namespace {

/// The class that ULFM has for it, where the host knows it.
#ifdef MPIX_ERR_PROC_FAILED
constexpr int class_of_lost = MPIX_ERR_PROC_FAILED;
#else
constexpr int class_of_lost = MPI_ERR_OTHER;
#endif

/// In the order of Status.
constexpr std::array<int, static_cast<std::size_t>(Status::other) + 1> classes{
    MPI_SUCCESS,        MPI_ERR_WIN,        MPI_ERR_RANK,         MPI_ERR_DISP,
    MPI_ERR_COUNT,      MPI_ERR_TYPE,       MPI_ERR_OP,           MPI_ERR_ASSERT,
    MPI_ERR_LOCKTYPE,   MPI_ERR_RMA_SYNC,   MPI_ERR_RMA_CONFLICT, MPI_ERR_RMA_RANGE,
    MPI_ERR_RMA_ATTACH, MPI_ERR_RMA_SHARED, MPI_ERR_RMA_FLAVOR,
    MPI_ERR_OTHER, // rma_notification: see below
    MPI_ERR_SIZE,       MPI_ERR_BASE,       MPI_ERR_BUFFER,       MPI_ERR_ARG,
    MPI_ERR_GROUP,      MPI_ERR_INFO,       MPI_ERR_NO_MEM,       MPI_ERR_UNSUPPORTED_OPERATION,
    class_of_lost,      MPI_ERR_OTHER,
};

struct AddedError {
    int error_class = MPI_ERR_OTHER;
    int code = MPI_ERR_OTHER;
};

/// MPI_ERR_RMA_NOTIFICATION.
const AddedError& notification_error() noexcept
{
#ifdef MPI_ERR_RMA_NOTIFICATION
    static const AddedError known{MPI_ERR_RMA_NOTIFICATION, MPI_ERR_RMA_NOTIFICATION};
#else
    static const AddedError known = [] {
        constexpr const char* text = "MPI_ERR_RMA_NOTIFICATION: no such counter, or it is gone";
        AddedError added;
        if (table().Add_error_class(&added.error_class) != MPI_SUCCESS ||
            table().Add_error_code(added.error_class, &added.code) != MPI_SUCCESS) {
            return AddedError{};
        }
        table().Add_error_string(added.error_class, text);
        table().Add_error_string(added.code, text);
        return added;
    }();
#endif
    return known;
}

/// Whether a handle is no address, or that of something. In the MPI ABI only its host knows what it
/// is: MPICH's are numbers.
template <class Handle>
bool can_be_read(Handle handle) noexcept
{
    if constexpr (std::is_integral_v<Handle> || SIDELIGHT_MPI_ABI) {
        return true;
    } else {
        const std::uintptr_t in_page = reinterpret_cast<std::uintptr_t>(handle) % page_size();
        unsigned char present = 0;
        return mincore(reinterpret_cast<char*>(handle) - in_page, 1, &present) == 0 ||
               errno != ENOMEM; // of nothing
    }
}

/// Hosts whose handles are addresses end the process where one is of nothing.
bool is_window(MPI_Win handle) noexcept { return can_be_read(handle) && leads_back(handle); }

} // namespace

bool world_is_up() noexcept
{
    int initialized = 0;
    int finalized = 0;
    table().Initialized(&initialized);
    table().Finalized(&finalized);
    return initialized != 0 && finalized == 0;
}

int error_class(Status status) noexcept
{
    return status == Status::rma_notification ? notification_error().code
                                              : classes[static_cast<std::size_t>(status)];
}

int class_of_notification() noexcept { return notification_error().error_class; }

int answer_window(Status status, MPI_Win handle) noexcept
{
    if (status == Status::ok) [[likely]] {
        return MPI_SUCCESS;
    }
    if (!is_window(handle)) {
        return answer(Status::win);
    }
    const int code = table().Win_call_errhandler(handle, error_class(status));
    return code == MPI_SUCCESS ? error_class(status) : code; // what is no window is the host's word
}

int answer_comm(Status status, MPI_Comm comm)
{
    if (status == Status::ok) {
        return MPI_SUCCESS;
    }
    if (comm == MPI_COMM_NULL) {
        return answer(status);
    }
    table().Comm_call_errhandler(comm, error_class(status));
    return error_class(status);
}

int answer(Status status) noexcept
{
    if (status != Status::ok && world_is_up()) {
        int version = 0;
        int subversion = 0;
        table().Get_version(&version, &subversion);
        table().Comm_call_errhandler(version >= 4 ? MPI_COMM_SELF : MPI_COMM_WORLD,
                                     error_class(status));
    }
    return error_class(status);
}

} // namespace sidelight::host::mpi
