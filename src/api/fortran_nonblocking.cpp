// SPDX-License-Identifier: BSD-3-Clause
#include <sidelight.h>

#include "api/entry.hpp"
#include "api/fortran_handles.hpp"

/// The nonblocking calls for Fortran. One function serves every way to MPI: a program with mpif.h
/// calls it by the name that its compiler makes of MPIX_Win_ifence, the modules in
/// include/sidelight_f08.f90 and include/sidelight_mpi.f90 bind to that name. All arguments come by
/// reference, handles as integers; `error` is null where a program leaves ierror out, which the
/// modules allow.
using namespace sidelight::api;

namespace {

/// As in C, the request is not set on error.
template <class Call>
void begin(MPI_Fint* request, MPI_Fint* error, Call call) noexcept
{
    MPI_Request begun = MPI_REQUEST_NULL;
    const int code = call(&begun);
    if (code == MPI_SUCCESS) {
        *request = fortran_handle(begun);
    }
    if (error != nullptr) {
        *error = code;
    }
}

} // namespace

SIDELIGHT_ENTRY void mpix_win_ifence_(const MPI_Fint* assertion, const MPI_Fint* win,
                                      MPI_Fint* request, MPI_Fint* error)
{
    begin(request, error,
          [&](MPI_Request* begun) { return MPIX_Win_ifence(*assertion, window_of(*win), begun); });
}

SIDELIGHT_ENTRY void mpix_win_ipost_(const MPI_Fint* group, const MPI_Fint* assertion,
                                     const MPI_Fint* win, MPI_Fint* request, MPI_Fint* error)
{
    begin(request, error, [&](MPI_Request* begun) {
        return MPIX_Win_ipost(group_of(*group), *assertion, window_of(*win), begun);
    });
}

SIDELIGHT_ENTRY void mpix_win_istart_(const MPI_Fint* group, const MPI_Fint* assertion,
                                      const MPI_Fint* win, MPI_Fint* request, MPI_Fint* error)
{
    begin(request, error, [&](MPI_Request* begun) {
        return MPIX_Win_istart(group_of(*group), *assertion, window_of(*win), begun);
    });
}

SIDELIGHT_ENTRY void mpix_win_icomplete_(const MPI_Fint* win, MPI_Fint* request, MPI_Fint* error)
{
    begin(request, error,
          [&](MPI_Request* begun) { return MPIX_Win_icomplete(window_of(*win), begun); });
}

SIDELIGHT_ENTRY void mpix_win_iwait_(const MPI_Fint* win, MPI_Fint* request, MPI_Fint* error)
{
    begin(request, error,
          [&](MPI_Request* begun) { return MPIX_Win_iwait(window_of(*win), begun); });
}

SIDELIGHT_ENTRY void mpix_win_ilock_(const MPI_Fint* lock_type, const MPI_Fint* rank,
                                     const MPI_Fint* assertion, const MPI_Fint* win,
                                     MPI_Fint* request, MPI_Fint* error)
{
    begin(request, error, [&](MPI_Request* begun) {
        return MPIX_Win_ilock(*lock_type, *rank, *assertion, window_of(*win), begun);
    });
}

SIDELIGHT_ENTRY void mpix_win_iunlock_(const MPI_Fint* rank, const MPI_Fint* win, MPI_Fint* request,
                                       MPI_Fint* error)
{
    begin(request, error,
          [&](MPI_Request* begun) { return MPIX_Win_iunlock(*rank, window_of(*win), begun); });
}

SIDELIGHT_ENTRY void mpix_win_ilock_all_(const MPI_Fint* assertion, const MPI_Fint* win,
                                         MPI_Fint* request, MPI_Fint* error)
{
    begin(request, error, [&](MPI_Request* begun) {
        return MPIX_Win_ilock_all(*assertion, window_of(*win), begun);
    });
}

SIDELIGHT_ENTRY void mpix_win_iunlock_all_(const MPI_Fint* win, MPI_Fint* request, MPI_Fint* error)
{
    begin(request, error,
          [&](MPI_Request* begun) { return MPIX_Win_iunlock_all(window_of(*win), begun); });
}

SIDELIGHT_ENTRY void mpix_win_iflush_(const MPI_Fint* rank, const MPI_Fint* win, MPI_Fint* request,
                                      MPI_Fint* error)
{
    begin(request, error,
          [&](MPI_Request* begun) { return MPIX_Win_iflush(*rank, window_of(*win), begun); });
}

SIDELIGHT_ENTRY void mpix_win_iflush_all_(const MPI_Fint* win, MPI_Fint* request, MPI_Fint* error)
{
    begin(request, error,
          [&](MPI_Request* begun) { return MPIX_Win_iflush_all(window_of(*win), begun); });
}

SIDELIGHT_ENTRY void mpix_win_iflush_local_(const MPI_Fint* rank, const MPI_Fint* win,
                                            MPI_Fint* request, MPI_Fint* error)
{
    begin(request, error,
          [&](MPI_Request* begun) { return MPIX_Win_iflush_local(*rank, window_of(*win), begun); });
}

SIDELIGHT_ENTRY void mpix_win_iflush_local_all_(const MPI_Fint* win, MPI_Fint* request,
                                                MPI_Fint* error)
{
    begin(request, error,
          [&](MPI_Request* begun) { return MPIX_Win_iflush_local_all(window_of(*win), begun); });
}
