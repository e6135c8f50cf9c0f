/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sidelight: nonblocking epochs for MPI one-sided communication, and more of it.
 *
 * Include it after or instead of <mpi.h>; link with -lsidelight before the MPI library, or run the
 * program under `sidelight run`. The header is strict C99 and may be used from C++.
 *
 * Every call MPIX_Win_iX is the nonblocking form of the standard call MPI_Win_X: same arguments and
 * errors, and a request as last argument. What the others are is said where they are.
 *
 * Completion   The request of an opening call (ipost, istart, ilock, ilock_all) is complete at
 *              once, even while the epoch is still deferred. The request of a closing call
 *              (icomplete, iwait, iunlock, iunlock_all, and ifence where it ends an epoch)
 *              completes when all conditions of the epoch hold: transfers done, and what the other
 *              side owes has arrived. Until then the buffers used in the epoch belong to the
 *              library.
 * Requests     They may be passed to every MPI_Wait*, MPI_Test*, MPI_Request_free and
 *              MPI_Request_get_status, mixed with requests of other kinds.
 * Mixing       Any mix of blocking and nonblocking calls may open, flush and close one epoch.
 * Progress     None of these calls waits for another process, but for opening calls on a window
 *              that Sidelight leaves to the host MPI: they are the host's blocking ones.
 * Threads      As the standard calls: any thread under MPI_THREAD_MULTIPLE.
 * Errors       MPI error classes, raised through the error handler of the window; on error the
 *              request is not set. What fails later (a target without memory at that place, a
 *              lost process) is raised there by the call that completes the request, which then
 *              fails with the same class. From MPI_Wait no other handler hears of it; where
 *              MPI_Test, MPI_Waitall and their like complete the request, the host may raise it
 *              once more, on MPI_COMM_SELF (Open MPI), or on that or MPI_COMM_WORLD (MPICH). On a
 *              window that Sidelight leaves to the host MPI, ifence, closing calls (but for iwait)
 *              and flushes fail with MPI_ERR_UNSUPPORTED_OPERATION. Beside an MPI that the library
 *              is not built for, MPIX_ calls on windows, opening ones too, and MPIX_Am_op_create
 *              return MPI_ERR_OTHER and do nothing, and no handler hears of it; sidelight_active()
 *              is 0.
 *
 * Source: J. A. Zounmevo, X. Zhao, P. Balaji, W. Gropp, A. Afsahi, "Nonblocking Epochs in MPI
 * One-Sided Communication", 2014 (sections V and VI). Example: examples/lu/lu_nonblocking.c.
 * For Fortran: sidelight_f08.f90 and sidelight_mpi.f90, beside this file.
 */
#ifndef SIDELIGHT_H
#define SIDELIGHT_H

#include <mpi.h>

#include "sidelight_am.h"
#include "sidelight_notify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Fence epochs (MPI-4.1, 12.5.1) ----------------------------------------------------------- */

/* Close the fence epoch that is open, if any, and open the next one. Complete when the operations
 * of the closed epoch, from here and towards here, are. A barrier wherever MPI_Win_fence is one:
 * the barrier delays the request, never the caller. */
int MPIX_Win_ifence(int assert, MPI_Win win, MPI_Request *request);

/* --- Access and exposure epochs (MPI-4.1, 12.5.2) --------------------------------------------- */

/* Open an exposure epoch for the processes of group. */
int MPIX_Win_ipost(MPI_Group group, int assert, MPI_Win win, MPI_Request *request);

/* Open an access epoch to the processes of group. */
int MPIX_Win_istart(MPI_Group group, int assert, MPI_Win win, MPI_Request *request);

/* Close the access epoch. Complete when every operation of the epoch is complete at the origin:
 * its buffers may be used again, and what was got is there. At a target the operations are complete
 * when its exposure epoch is; each target learns of its own part as soon as that part is done. */
int MPIX_Win_icomplete(MPI_Win win, MPI_Request *request);

/* Close the exposure epoch. Complete when every origin of the group has completed its access. */
int MPIX_Win_iwait(MPI_Win win, MPI_Request *request);

/* --- Passive target epochs (MPI-4.1, 12.5.3) -------------------------------------------------- */

/* Request the lock at rank; operations start as soon as it is granted. Before direct loads and
 * stores on memory that the lock protects, complete a flush. Locks at several ranks are asked for
 * one after the other, each when those before are granted, unless
 * MPI_WIN_ACCESS_AFTER_ACCESS_REORDER is set. */
int MPIX_Win_ilock(int lock_type, int rank, int assert, MPI_Win win, MPI_Request *request);

/* Close the epoch at rank. Complete when every operation of the epoch is complete at the origin and
 * at the target; the lock is released as soon as the last of them is. */
int MPIX_Win_iunlock(int rank, MPI_Win win, MPI_Request *request);

/* As ilock with a shared lock at every process of the window. */
int MPIX_Win_ilock_all(int assert, MPI_Win win, MPI_Request *request);

/* Close the epoch opened by lock_all or ilock_all; as iunlock, for every process of the window. */
int MPIX_Win_iunlock_all(MPI_Win win, MPI_Request *request);

/* --- Flushes (MPI-4.1, 12.5.4) ---------------------------------------------------------------- */

/* Complete when the operations to rank that were issued before this call are complete at the
 * target; operations issued after it are not waited for. */
int MPIX_Win_iflush(int rank, MPI_Win win, MPI_Request *request);

/* As iflush, for every target. */
int MPIX_Win_iflush_all(MPI_Win win, MPI_Request *request);

/* Complete when the operations to rank that were issued before this call are complete at the
 * origin: their buffers may be used again. */
int MPIX_Win_iflush_local(int rank, MPI_Win win, MPI_Request *request);

/* As iflush_local, for every target. */
int MPIX_Win_iflush_local_all(MPI_Win win, MPI_Request *request);

/* --- Operations with a request that waits for the target -------------------------------------- */

/* As MPI_Rput, MPI_Raccumulate and MPI_Rget_accumulate, with the same arguments and errors, in any
 * epoch; but the request completes when the operation is complete at the target, as it is after a
 * flush. It waits for that operation alone: not for others, nor for those of other threads. Then
 * the buffers may be used again, too. Any number may be under way. What MPI_Rget does is complete
 * at the target as well when its request is, so there is no other form of it.
 *
 * Source: J. Schuchart, C. Niethammer, J. Gracia, G. Bosilca, "Quo Vadis MPI RMA? Towards a More
 * Efficient Use of MPI One-Sided Communication", 2021 (section IV). */
int MPIX_Rrput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, int target_count,
               MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request);
int MPIX_Rrput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                 int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                 MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request);
int MPIX_Rraccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, int target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request);
int MPIX_Rraccumulate_c(const void *origin_addr, MPI_Count origin_count,
                        MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                        MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                        MPI_Win win, MPI_Request *request);
int MPIX_Rrget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, int result_count, MPI_Datatype result_datatype,
                          int target_rank, MPI_Aint target_disp, int target_count,
                          MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                          MPI_Request *request);
int MPIX_Rrget_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                            MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                            MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                            MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                            MPI_Win win, MPI_Request *request);

/* --- Accumulates of the origin's own ---------------------------------------------------------- */

/* Whether accumulates on this window need no processor of any target: flag is 1 if all operations
 * in ops, on up to max_count elements of the predefined type datatype, are performed by this
 * process itself, whatever the target; else 0. Each element is accessed atomically: by an
 * instruction, or, where it is not aligned or one of many, under a lock that the node's processes
 * share. ops is a list of names with commas between them: the second half of the name of a
 * predefined operation, in lower case, as "sum,min"; "replace", "no_op"; and "cas" for
 * MPI_Compare_and_swap. A name that is none is MPI_ERR_OP. Today the answer is 1 where the memory
 * of all members is mapped: on one node, but for dynamic windows and memory that is not shared; not
 * on windows that are left to the host. Local.
 *
 * Source: as above (section II.C). */
int MPIX_Win_op_intrinsic(const char *ops, MPI_Aint max_count, MPI_Datatype datatype, MPI_Win win,
                          int *flag);

/* --- Duplicated windows ----------------------------------------------------------------------- */

/* Another handle of the window win, with info keys of its own: the same memory, the same epochs and
 * the same atomicity of accumulates. To open, flush or close an epoch through any handle does so
 * for all of them; to lock a process again through another one is MPI_ERR_RMA_SYNC. Local; any
 * number, also of duplicates.
 *
 * Keys         The new handle has those of win as they are now, and then those of info. A key that
 *              it cannot have, or not with that value, stays as it was: MPI_Win_get_info tells what
 *              is in force, defaults included. What belongs to the whole window (its memory, the
 *              order of its epochs) changes with MPI_Win_set_info on the window that was made
 *              first alone, for all. On a duplicate MPI_Win_set_info is local, not collective.
 * Other        Attributes and the error handler are handed on as by MPI_Comm_dup: the copy callback
 *              of each key is called with win, the error handler is that of win. The name is not.
 *              Attributes whose key or value was set by Fortran stay behind. (The paper says
 *              nothing of these.)
 *
 * Freeing      MPI_Win_free of a duplicate is local, and may come at any time: epochs that were
 *              opened through it stay open. MPI_Win_free of the window that was made first is
 *              collective as ever, and ends all access: its duplicates can then be freed, and every
 *              other call of MPI with one of them is undefined or MPI_ERR_WIN.
 * Threads      Any thread, also beside others that use the window or free duplicates of it. A
 *              duplicate may be freed while another thread frees the window.
 * Errors       newwin is not set. MPI_ERR_INFO, MPI_ERR_ARG; MPI_ERR_OTHER where the host makes no
 *              more windows, or a copy callback has failed. Of the window of a memory handle:
 *              MPI_ERR_RMA_FLAVOR. On a window that Sidelight leaves to the host MPI:
 *              MPI_ERR_UNSUPPORTED_OPERATION.
 *
 * Source: as above (section III). */
int MPIX_Win_dup_with_info(MPI_Win win, MPI_Info info, MPI_Win *newwin);

/* --- Memory handles --------------------------------------------------------------------------- */

/* Memory of one process for those that it gives a handle to: plain bytes, which it sends as it
 * likes. Who has them opens a window of that memory alone, and reaches it as memory of an allocated
 * window is reached; nothing communicates to create a handle, or to open and free a window of it.
 *
 *     target                                          origin
 *     MPIX_Memhandle_create(base, size, MPI_INFO_NULL, MPI_Win_lock_all(0, dynamic);
 *                           dynamic, handle, &bytes);
 *     MPI_Send(handle, bytes, MPI_BYTE, ...);         MPI_Recv(handle, ..., MPI_BYTE, ...);
 *                                                     MPIX_Win_from_memhandle(handle, size, 8,
 *                                                         MPI_INFO_NULL, target, dynamic, &win);
 *                                                     MPI_Put(..., target, 0, ..., win);
 *                                                     MPI_Win_flush(target, win);
 *                                                     MPI_Win_free(&win);
 *     MPI_Recv(NULL, 0, MPI_BYTE, ...);               MPI_Send(NULL, 0, MPI_BYTE, ...);
 *     MPIX_Memhandle_release(handle, dynamic);
 *
 * Source: as above, 2021 (section IV.B). */

/* The most bytes that a handle has. */
#define MPIX_MAX_MEMHANDLE_SIZE 256

/* Let others reach the size bytes at base by a handle, which is written to memhandle, a buffer of
 * MPIX_MAX_MEMHANDLE_SIZE bytes; memhandle_size is how many of them it has. The memory need not be
 * attached to parentwin, which must be a dynamic window (else MPI_ERR_RMA_FLAVOR), and may be in
 * several handles. The key sidelight_share_memory of info is as for MPI_Win_create_dynamic. Local.
 */
int MPIX_Memhandle_create(void *base, MPI_Aint size, MPI_Info info, MPI_Win parentwin,
                          void *memhandle, int *memhandle_size);

/* A window of the memory that a handle names, or of its first size bytes (more than it has:
 * MPI_ERR_SIZE), for this process alone. target is the rank in parentwin of the process that has
 * made the handle; it may be this one. Bytes that are no handle of that dynamic window, or were
 * changed, are MPI_ERR_ARG; a handle that another process than target has made is MPI_ERR_RANK.
 * Local: a handle that was released already is not noticed here.
 *
 * The window takes operations of all kinds, with requests and notifications too, and flushes. Its
 * one target keeps its rank (others are MPI_ERR_RANK), and displacements count from base in
 * disp_unit. Every other synchronisation is MPI_ERR_RMA_SYNC: operations are in the epoch that
 * MPI_Win_lock or MPI_Win_lock_all has opened on parentwin, and the parent's unlock and flushes
 * complete them, too, as those of the window complete what the parent has issued to the target.
 * Keys of info are as for MPIX_Win_dup_with_info; notifications are counted by the parent's
 * counters. MPI_WIN_SIZE and MPI_WIN_DISP_UNIT answer size and disp_unit, MPI_WIN_BASE the address
 * if the memory is this process's, else MPI_BOTTOM; MPI_WIN_CREATE_FLAVOR is
 * MPI_WIN_FLAVOR_CREATE, the group and the model are the parent's, and so is the error handler at
 * first. It has no name, and no attributes of the parent's.
 *
 * MPI_Win_free of it is local, also after the handle was released, and after parentwin was freed;
 * operations that are under way go on. A window whose parent was freed can be freed and nothing
 * else (MPI_ERR_WIN). */
int MPIX_Win_from_memhandle(const void *memhandle, MPI_Aint size, int disp_unit, MPI_Info info,
                            int target, MPI_Win parentwin, MPI_Win *newwin);

/* End what a handle of this process allows, when all operations by it are complete, and spoil its
 * bytes. Local. An operation that comes nevertheless fails with MPI_ERR_RMA_RANGE, in its call, its
 * request (if it is one of MPIX_Rrput and its like that was freed: nowhere) or the next flush, and
 * changes nothing; the memory may be used for anything else when this call returns. Handles that
 * are not released end with parentwin. */
int MPIX_Memhandle_release(void *memhandle, MPI_Win parentwin);

/* --- Progress while the program computes ------------------------------------------------------ */

/* Who moves operations on while this process is in no MPI call: SIDELIGHT_PROGRESS at first. */
#define MPIX_PROGRESS_AUTO 0   /* a thread where messages or nonblocking calls need one */
#define MPIX_PROGRESS_CALLS 1  /* nobody: the next call does */
#define MPIX_PROGRESS_THREAD 2 /* a thread that every ring and every message wakes */
#define MPIX_PROGRESS_SMART 3  /* one that is called only for what is recorded */

/* Choose it for this process, from now on or from its first window on; a window that was made with
 * the key sidelight_progress may have started a thread already, which AUTO leaves as it is, while
 * it ends one that another mode has begun. Local. Below MPI_THREAD_MULTIPLE no other thread may be
 * in a call on a window meanwhile. Another mode is MPI_ERR_ARG. Messages of two-sided calls move
 * under SMART only where libsidelight_messages.so was loaded before MPI was initialised. */
int MPIX_Progress_set(int mode);

/* What was chosen last. Local; any thread. */
int MPIX_Progress_get(int *mode);

/* What the thread of MPIX_PROGRESS_SMART has done in this process so far: how often events that
 * were asked for have woken it, how often messages, how many of all these wakes were for nothing,
 * and the nanoseconds from the events to its running, added up. Local; any thread. */
int MPIX_Progress_counts(MPI_Count *calls, MPI_Count *messages, MPI_Count *futile,
                         MPI_Count *delay);

/* --- Profiling tools -------------------------------------------------------------------------- */

/* Each MPIX_ call has a second name, PMPIX_, for a tool that defines the first one. */
#define SIDELIGHT_SECOND_NAME(name) extern __typeof__(MPIX_##name) PMPIX_##name;
SIDELIGHT_SECOND_NAME(Win_ifence)
SIDELIGHT_SECOND_NAME(Win_ipost)
SIDELIGHT_SECOND_NAME(Win_istart)
SIDELIGHT_SECOND_NAME(Win_icomplete)
SIDELIGHT_SECOND_NAME(Win_iwait)
SIDELIGHT_SECOND_NAME(Win_ilock)
SIDELIGHT_SECOND_NAME(Win_iunlock)
SIDELIGHT_SECOND_NAME(Win_ilock_all)
SIDELIGHT_SECOND_NAME(Win_iunlock_all)
SIDELIGHT_SECOND_NAME(Win_iflush)
SIDELIGHT_SECOND_NAME(Win_iflush_all)
SIDELIGHT_SECOND_NAME(Win_iflush_local)
SIDELIGHT_SECOND_NAME(Win_iflush_local_all)
SIDELIGHT_SECOND_NAME(Rrput)
SIDELIGHT_SECOND_NAME(Rrput_c)
SIDELIGHT_SECOND_NAME(Rraccumulate)
SIDELIGHT_SECOND_NAME(Rraccumulate_c)
SIDELIGHT_SECOND_NAME(Rrget_accumulate)
SIDELIGHT_SECOND_NAME(Rrget_accumulate_c)
SIDELIGHT_SECOND_NAME(Win_op_intrinsic)
SIDELIGHT_SECOND_NAME(Win_dup_with_info)
SIDELIGHT_SECOND_NAME(Memhandle_create)
SIDELIGHT_SECOND_NAME(Win_from_memhandle)
SIDELIGHT_SECOND_NAME(Memhandle_release)
SIDELIGHT_SECOND_NAME(Progress_set)
SIDELIGHT_SECOND_NAME(Progress_get)
SIDELIGHT_SECOND_NAME(Progress_counts)
SIDELIGHT_SECOND_NAME(Am_op_create)
SIDELIGHT_SECOND_NAME(Am_op_create_c)
SIDELIGHT_SECOND_NAME(Am_win_op_register)
SIDELIGHT_SECOND_NAME(Am)
SIDELIGHT_SECOND_NAME(Am_c)
SIDELIGHT_SECOND_NAME(Ram)
SIDELIGHT_SECOND_NAME(Ram_c)
SIDELIGHT_SECOND_NAME(Am_notify)
SIDELIGHT_SECOND_NAME(Am_notify_c)
SIDELIGHT_SECOND_NAME(Ram_notify)
SIDELIGHT_SECOND_NAME(Ram_notify_c)
SIDELIGHT_SECOND_NAME(Am_win_buffer_attach)
SIDELIGHT_SECOND_NAME(Am_win_buffer_detach)
SIDELIGHT_SECOND_NAME(Win_notify_ithreshold)
#undef SIDELIGHT_SECOND_NAME

/* --- About the library ------------------------------------------------------------------------ */

/* The version of the library that is loaded, as "major.minor.patch". Any time, any thread. */
const char *sidelight_version(void);

/* Whether the library serves the MPI of this process: 1; or 0 where it is built for another one and
 * has stepped aside, where SIDELIGHT_ENABLE=0 leaves every window to the host, and where no MPI is
 * loaded. Single windows may be left to the host in any case. Any time, any thread. */
int sidelight_active(void);

/* Write to the file descriptor what each window of this process waits for: one line for each
 * window, one for each of its pending epochs, and one on the interrupt thread if there has been
 * one. For use while a program hangs, also from a debugger; the process should stand still. */
void sidelight_dump(int fd);

#ifdef __cplusplus
}
#endif

#endif /* SIDELIGHT_H */
