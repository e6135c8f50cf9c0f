/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sidelight: notified one-sided communication (MPI-5.1, 12.6). Included by sidelight.h.
 *
 * A process may have counters of notifications on a window. A notified operation raises one of its
 * target's by 1 when it is complete at the target: after what it has written can be read there, or
 * what it has read may be overwritten. So the target knows without a message, and without a call
 * by the origin that waits.
 *
 * Every call has its name in the standard, with MPI_, and the same with MPIX_. A host that has the
 * calls itself keeps its MPI_ declarations.
 *
 * Operations   As those without _notify, with the counter's number just before the window. In
 *              passive epochs alone (lock, lock_all), else MPI_ERR_RMA_SYNC. A flush and the end
 *              of the epoch wait for the notification, too. A request completes as that of the
 *              form without _notify.
 * Order        A counter says that so many notified operations are complete, not which: those of
 *              one origin may overtake one another as ever. It says nothing of operations without
 *              _notify: one that the origin issued before may still be on its way.
 * Errors       A counter that the target does not have is MPI_ERR_RMA_NOTIFICATION: from the call
 *              where the target is on the same node, else from whoever waits for the operation.
 * Threads      Any thread under MPI_THREAD_MULTIPLE.
 *
 * Guide: docs/guide/notifications.md.
 */
#ifndef SIDELIGHT_NOTIFY_H
#define SIDELIGHT_NOTIFY_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The error class. Where the host has none it is added to the host's when it is first asked for,
 * and so it is no constant: compare it with what MPI_Error_class answers. */
int MPIX_Err_rma_notification(void);
int PMPIX_Err_rma_notification(void);

#ifdef MPI_ERR_RMA_NOTIFICATION
#define SIDELIGHT_NOTIFICATION(name, parameters)                                                   \
    int MPIX_##name parameters;                                                                    \
    int PMPIX_##name parameters;
#else
#define MPI_ERR_RMA_NOTIFICATION (MPIX_Err_rma_notification())
/* Attributes of a window: how many counters a process may ask for (an int: NUM_SB without
 * disadvantage, NUM_UB at all), and the highest value of one (an MPI_Count). Windows that are left
 * to the host have none of them. */
#define MPI_WIN_NOTIFICATION_NUM_SB 0x5ade0001
#define MPI_WIN_NOTIFICATION_NUM_UB 0x5ade0003
#define MPI_WIN_NOTIFICATION_VALUE_UB 0x5ade0005
#define SIDELIGHT_NOTIFICATION(name, parameters)                                                   \
    int MPI_##name parameters;                                                                     \
    int PMPI_##name parameters;                                                                    \
    int MPIX_##name parameters;                                                                    \
    int PMPIX_##name parameters;
#endif

/* --- Counters --------------------------------------------------------------------------------- */

/* The calling process has that many counters from now on, numbered from 0, all zero; before the
 * first call it has none. Collective over the window; the caller has no epoch open but a fence's
 * that is not in use, and that stays open. Each process may ask for another number, more or fewer
 * than before. A barrier: afterwards all have theirs. Requests that still wait for a counter end
 * with MPI_ERR_RMA_NOTIFICATION. A number below 0 or above NUM_UB is MPI_ERR_ARG; the caller then
 * takes part all the same, and keeps the counters that it has. Info keys:
 * mpi_assert_same_num_notifications here ("true": all ask for the same number), and
 * mpi_assert_max_num_notify where the window is made, which changes nothing. */
SIDELIGHT_NOTIFICATION(Win_set_num_notify, (MPI_Win win, MPI_Info info, int num_notifications))

/* How many counters a process has. Of a process on another node it asks that process, unless all
 * have the same number, and may wait for its progress. */
SIDELIGHT_NOTIFICATION(Win_get_num_notify, (MPI_Win win, int rank, int *num_notifications))

/* The value of one of the caller's own counters. Orders memory as MPI_Win_sync does: the data of
 * the operations that are counted may be read. Local. */
SIDELIGHT_NOTIFICATION(Win_get_notify_value, (MPI_Win win, int notification_idx, MPI_Count *value))

/* The same, and the counter is zero afterwards: none that comes meanwhile is missed. */
SIDELIGHT_NOTIFICATION(Win_reset_notify_value,
                       (MPI_Win win, int notification_idx, MPI_Count *value))

/* The request completes when that counter of the caller's has reached the value, or has been found
 * to have reached it when it was reset. It may be passed to every MPI_Wait* and MPI_Test*, with
 * requests of other kinds. Any number may wait. Local. MPI_Win_free ends those that no operation
 * reaches any more with MPI_ERR_RMA_NOTIFICATION.
 *
 * Source: J. Schuchart et al., "Quo Vadis MPI RMA?", 2021 (section IV). */
int MPIX_Win_notify_ithreshold(MPI_Win win, int notification_idx, MPI_Count expected,
                               MPI_Request *request);

/* --- Operations ------------------------------------------------------------------------------- */

#define SIDELIGHT_NOTIFIED(suffix, Count)                                                          \
    SIDELIGHT_NOTIFICATION(Put_notify##suffix,                                                     \
                           (const void *origin_addr, Count origin_count,                           \
                            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,   \
                            Count target_count, MPI_Datatype target_datatype,                      \
                            int notification_idx, MPI_Win win))                                    \
    SIDELIGHT_NOTIFICATION(Get_notify##suffix,                                                     \
                           (void *origin_addr, Count origin_count, MPI_Datatype origin_datatype,   \
                            int target_rank, MPI_Aint target_disp, Count target_count,             \
                            MPI_Datatype target_datatype, int notification_idx, MPI_Win win))      \
    SIDELIGHT_NOTIFICATION(Accumulate_notify##suffix,                                              \
                           (const void *origin_addr, Count origin_count,                           \
                            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,   \
                            Count target_count, MPI_Datatype target_datatype, MPI_Op op,           \
                            int notification_idx, MPI_Win win))                                    \
    SIDELIGHT_NOTIFICATION(Get_accumulate_notify##suffix,                                          \
                           (const void *origin_addr, Count origin_count,                           \
                            MPI_Datatype origin_datatype, void *result_addr, Count result_count,   \
                            MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,   \
                            Count target_count, MPI_Datatype target_datatype, MPI_Op op,           \
                            int notification_idx, MPI_Win win))                                    \
    SIDELIGHT_NOTIFICATION(Rput_notify##suffix,                                                    \
                           (const void *origin_addr, Count origin_count,                           \
                            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,   \
                            Count target_count, MPI_Datatype target_datatype,                      \
                            int notification_idx, MPI_Win win, MPI_Request *request))              \
    SIDELIGHT_NOTIFICATION(Rget_notify##suffix,                                                    \
                           (void *origin_addr, Count origin_count, MPI_Datatype origin_datatype,   \
                            int target_rank, MPI_Aint target_disp, Count target_count,             \
                            MPI_Datatype target_datatype, int notification_idx, MPI_Win win,       \
                            MPI_Request *request))                                                 \
    SIDELIGHT_NOTIFICATION(Raccumulate_notify##suffix,                                             \
                           (const void *origin_addr, Count origin_count,                           \
                            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,   \
                            Count target_count, MPI_Datatype target_datatype, MPI_Op op,           \
                            int notification_idx, MPI_Win win, MPI_Request *request))              \
    SIDELIGHT_NOTIFICATION(Rget_accumulate_notify##suffix,                                         \
                           (const void *origin_addr, Count origin_count,                           \
                            MPI_Datatype origin_datatype, void *result_addr, Count result_count,   \
                            MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,   \
                            Count target_count, MPI_Datatype target_datatype, MPI_Op op,           \
                            int notification_idx, MPI_Win win, MPI_Request *request))
SIDELIGHT_NOTIFIED(, int)
SIDELIGHT_NOTIFIED(_c, MPI_Count)

#undef SIDELIGHT_NOTIFIED
#undef SIDELIGHT_NOTIFICATION

#ifdef __cplusplus
}
#endif

#endif /* SIDELIGHT_NOTIFY_H */
