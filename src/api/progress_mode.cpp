// SPDX-License-Identifier: BSD-3-Clause
#include <sidelight.h>

#include "api/entry.hpp"
#include "api/fortran_arguments.hpp"
#include "runtime/runtime.hpp"

/// Who moves operations on while the program computes, chosen while it runs (P4).
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;

static_assert(static_cast<int>(Progress::automatic) == MPIX_PROGRESS_AUTO &&
              static_cast<int>(Progress::calls) == MPIX_PROGRESS_CALLS &&
              static_cast<int>(Progress::thread) == MPIX_PROGRESS_THREAD &&
              static_cast<int>(Progress::smart) == MPIX_PROGRESS_SMART);

SIDELIGHT_ENTRY int MPIX_Progress_set(int mode)
{
    if (mode < MPIX_PROGRESS_AUTO || mode > MPIX_PROGRESS_SMART) {
        return MPI_ERR_ARG;
    }
    Helpers::choose_mode(static_cast<Progress>(mode));
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->helpers().apply_mode();
    }
    return MPI_SUCCESS;
}
SIDELIGHT_PROFILED(Progress_set)

SIDELIGHT_ENTRY int MPIX_Progress_get(int* mode)
{
    if (mode == nullptr) {
        return MPI_ERR_ARG;
    }
    *mode = static_cast<int>(Helpers::mode());
    return MPI_SUCCESS;
}
SIDELIGHT_PROFILED(Progress_get)

SIDELIGHT_ENTRY int MPIX_Progress_counts(MPI_Count* calls, MPI_Count* messages, MPI_Count* futile,
                                         MPI_Count* delay)
{
    if (calls == nullptr || messages == nullptr || futile == nullptr || delay == nullptr) {
        return MPI_ERR_ARG;
    }
    *calls = *messages = *futile = *delay = 0;
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        const auto& counts = runtime->helpers().counts();
        const auto of = [](const std::atomic<std::uint64_t>& count) {
            return static_cast<MPI_Count>(count.load(std::memory_order_relaxed));
        };
        *calls = of(counts.calls);
        *messages = of(counts.messages);
        *futile = of(counts.futile);
        *delay = of(counts.delay_ns);
    }
    return MPI_SUCCESS;
}
SIDELIGHT_PROFILED(Progress_counts)

SIDELIGHT_ENTRY void mpix_progress_set_(const MPI_Fint* mode, MPI_Fint* error)
{
    return_to_fortran(MPIX_Progress_set(*mode), error);
}
SIDELIGHT_PROFILED_FORTRAN(progress_set_)

SIDELIGHT_ENTRY void mpix_progress_get_(MPI_Fint* mode, MPI_Fint* error)
{
    int found = 0;
    const int code = MPIX_Progress_get(&found);
    *mode = found;
    return_to_fortran(code, error);
}
SIDELIGHT_PROFILED_FORTRAN(progress_get_)

SIDELIGHT_ENTRY void mpix_progress_counts_(MPI_Count* calls, MPI_Count* messages, MPI_Count* futile,
                                           MPI_Count* delay, MPI_Fint* error)
{
    return_to_fortran(MPIX_Progress_counts(calls, messages, futile, delay), error);
}
SIDELIGHT_PROFILED_FORTRAN(progress_counts_)
