// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The host's mpi.h, and those functions of MPI-4 that an older one does not declare. To declare
/// them a second time is harmless, so nothing here depends on the host but the type of a session.

#include <mpi.h>

/// Whether this is the <mpi.h> of the MPI ABI (MPI-5.0, chapter 20), which is the same for all
/// hosts that have it.
#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION > 0
#define SIDELIGHT_MPI_ABI 1
using MPI_Fint = int;
#else
#define SIDELIGHT_MPI_ABI 0
#endif

/// Whether the host's progress loop has no hook of its own, as far as <mpi.h> tells: see
/// docs/design/hooks.md.
#if SIDELIGHT_MPI_ABI || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40300000)
#define SIDELIGHT_HOST_LACKS_HOOK 1
#else
#define SIDELIGHT_HOST_LACKS_HOOK 0
#endif

/// Whether it asks for the status of several requests at once (MPI-4.1).
#define SIDELIGHT_HAS_STATUS_OF_SEVERAL (100 * MPI_VERSION + MPI_SUBVERSION >= 401)

#ifndef MPI_SESSION_NULL
struct sidelight_no_session;
using MPI_Session = sidelight_no_session*;
#define MPI_SESSION_NULL nullptr
#endif

extern "C" {
int PMPI_Session_init(MPI_Info, MPI_Errhandler, MPI_Session*);
int PMPI_Session_finalize(MPI_Session*);
int PMPI_Session_get_info(MPI_Session, MPI_Info*);
int PMPI_Comm_create_from_group(MPI_Group, const char*, MPI_Info, MPI_Errhandler, MPI_Comm*);
int PMPI_Type_get_envelope_c(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*);
int PMPI_Type_get_contents_c(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*,
                             MPI_Aint*, MPI_Count*, MPI_Datatype*);
int PMPI_Win_create_c(void*, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, MPI_Win*);
int PMPI_Win_allocate_c(MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, void*, MPI_Win*);
int PMPI_Win_allocate_shared_c(MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, void*, MPI_Win*);
int PMPI_Win_shared_query_c(MPI_Win, int, MPI_Aint*, MPI_Aint*, void*);
int PMPI_Put_c(const void*, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype,
               MPI_Win);
int PMPI_Get_c(void*, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Win);
int PMPI_Accumulate_c(const void*, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype,
                      MPI_Op, MPI_Win);
int PMPI_Get_accumulate_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, int,
                          MPI_Aint, MPI_Count, MPI_Datatype, MPI_Op, MPI_Win);
int PMPI_Rput_c(const void*, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype,
                MPI_Win, MPI_Request*);
int PMPI_Rget_c(void*, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Win,
                MPI_Request*);
int PMPI_Raccumulate_c(const void*, MPI_Count, MPI_Datatype, int, MPI_Aint, MPI_Count, MPI_Datatype,
                       MPI_Op, MPI_Win, MPI_Request*);
int PMPI_Rget_accumulate_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype,
                           int, MPI_Aint, MPI_Count, MPI_Datatype, MPI_Op, MPI_Win, MPI_Request*);
} // extern "C"
