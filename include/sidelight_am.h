/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sidelight: generalized active messages. Included by sidelight.h.
 *
 * An active message is one more RMA operation: it runs a function of the program, its handler, on
 * memory of the target. It is issued in any epoch, and complete as other operations are: by a
 * flush, unlock, complete or fence. One that brings output back counts as one that fetches.
 *
 * Source: X. Zhao, P. Balaji, W. Gropp, R. Thakur, "MPI-Interoperable Generalized Active Messages",
 * 2013. Guide with an example: docs/guide/active-messages.md.
 */
#ifndef SIDELIGHT_AM_H
#define SIDELIGHT_AM_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A handler. It is called one or more times for a message, each time with num_segments of its
 * segments, of which the first is number segment_offset of the message; for a message without
 * segments it is never called.
 *
 * Input        Segment i of this call begins i * input_segment_count elements behind input_addr, a
 *              copy in the layout that the origin has named for the target. It may be written to.
 * Output       Likewise; zero at first. What the handler leaves there goes to the origin.
 * Persistent   persistent_count elements of the target's window: what is in there stays. In a
 *              dynamic window memory between them need not be attached if it is one hole between
 *              two pieces; where there are more pieces one region has to hold all.
 * Datatypes    The handles are those of predefined types as the origin has named them; for a type
 *              that it has made MPI_DATATYPE_NULL: a handler calls no MPI, and knows its types.
 * Alignment    Input and output are aligned as their datatypes want it, if the attached buffer is.
 * Threads      It may run beside the program's own threads, in another one, and where the target's
 *              memory is mapped in another process of the node: it uses its three buffers only.
 *              There is a full memory barrier before it, and one behind it by the origin's next
 *              flush, or the end of its epoch, at the latest. It calls no MPI: calls that open,
 *              flush or close epochs, and operations that are not performed at once, fail with
 *              MPI_ERR_UNSUPPORTED_OPERATION in there. */
typedef void(MPIX_Am_user_function)(void *input_addr, int input_segment_count,
                                    MPI_Datatype input_segment_datatype, void *persistent_addr,
                                    int persistent_count, MPI_Datatype persistent_datatype,
                                    void *output_addr, int output_segment_count,
                                    MPI_Datatype output_segment_datatype, int num_segments,
                                    int segment_offset);

/* The same with large counts. All members of a window register operations of the same form. */
typedef void(MPIX_Am_user_function_c)(void *input_addr, MPI_Count input_segment_count,
                                      MPI_Datatype input_segment_datatype, void *persistent_addr,
                                      MPI_Count persistent_count, MPI_Datatype persistent_datatype,
                                      void *output_addr, MPI_Count output_segment_count,
                                      MPI_Datatype output_segment_datatype, MPI_Count num_segments,
                                      MPI_Count segment_offset);

/* An assertion for MPI_Win_fence, _start, _lock and _lock_all and their nonblocking forms: active
 * messages of that epoch may run at the same time as others that assert it. Those that do not
 * exclude all others at their target, each message as a whole. */
#define MPIX_MODE_CONCURRENT_AM 0x20000000

/* An operation for a handler. Local. It is freed with MPI_Op_free; windows that it is registered
 * with keep it. Errors: MPI_ERR_ARG. */
int MPIX_Am_op_create(MPIX_Am_user_function *function, MPI_Op *am_op);
int MPIX_Am_op_create_c(MPIX_Am_user_function_c *function, MPI_Op *am_op);

/* Makes the operation known to a window. Collective, outside of all epochs but a fence's that is
 * not in use, which stays open: the members' operations, which may have different functions that do
 * the same, become one. Messages name it by its number, so all members register theirs in the same
 * order. Holds for all handles of the window, and for windows of memory handles, which have no such
 * call themselves (MPI_ERR_RMA_SYNC). Errors: MPI_ERR_OP, at the member that has passed it;
 * messages with that number fail where they run at that member. */
int MPIX_Am_win_op_register(MPI_Op am_op, MPI_Win win);

/* Runs the handler at target_rank. A segment is origin_input_segment_count elements here; at the
 * target it is as many of target_input_segment_datatype as have the same signature, and likewise
 * for the output, whose address and count may be null and 0. The handler gets
 * target_persistent_count elements at target_persistent_disp of the target's window.
 *
 * Order        By the info key am_ordering: a list of sameop, diffop and sameam, or none; default
 *              all three. Messages of one origin, to one target, by one handle of a window, about
 *              memory that overlaps, run in the order of issue, if they have the same operation
 *              (sameop) or another one (diffop). Segments of one message always do. Against other
 *              operations there is no order, unless the window is ordered (mpi_win_order).
 * Buffers      Input and output of one segment, by true extent at the target and with what their
 *              alignment takes, must fit in the target's internal buffer (SIDELIGHT_AM_BUFFER) or
 *              in the one that is attached there; else the message fails with MPI_ERR_BUFFER.
 * Errors       As of MPI_Get_accumulate; MPI_ERR_TYPE for signatures that do not divide. What only
 *              the target knows is told by whoever waits for the message. */
int MPIX_Am(const void *origin_input_addr, int origin_input_segment_count,
            MPI_Datatype origin_input_segment_datatype, void *origin_output_addr,
            int origin_output_segment_count, MPI_Datatype origin_output_segment_datatype,
            int num_segments, int target_rank, MPI_Datatype target_input_segment_datatype,
            MPI_Aint target_persistent_disp, int target_persistent_count,
            MPI_Datatype target_persistent_datatype, MPI_Datatype target_output_segment_datatype,
            MPI_Op am_op, MPI_Win win);
/* If the handler has int counts, a larger count is MPI_ERR_COUNT. */
int MPIX_Am_c(const void *origin_input_addr, MPI_Count origin_input_segment_count,
              MPI_Datatype origin_input_segment_datatype, void *origin_output_addr,
              MPI_Count origin_output_segment_count, MPI_Datatype origin_output_segment_datatype,
              MPI_Count num_segments, int target_rank, MPI_Datatype target_input_segment_datatype,
              MPI_Aint target_persistent_disp, MPI_Count target_persistent_count,
              MPI_Datatype target_persistent_datatype, MPI_Datatype target_output_segment_datatype,
              MPI_Op am_op, MPI_Win win);

/* The same with a request, which completes when the origin's buffers are free, and with output
 * when that is there. */
int MPIX_Ram(const void *origin_input_addr, int origin_input_segment_count,
             MPI_Datatype origin_input_segment_datatype, void *origin_output_addr,
             int origin_output_segment_count, MPI_Datatype origin_output_segment_datatype,
             int num_segments, int target_rank, MPI_Datatype target_input_segment_datatype,
             MPI_Aint target_persistent_disp, int target_persistent_count,
             MPI_Datatype target_persistent_datatype, MPI_Datatype target_output_segment_datatype,
             MPI_Op am_op, MPI_Win win, MPI_Request *request);
int MPIX_Ram_c(const void *origin_input_addr, MPI_Count origin_input_segment_count,
               MPI_Datatype origin_input_segment_datatype, void *origin_output_addr,
               MPI_Count origin_output_segment_count, MPI_Datatype origin_output_segment_datatype,
               MPI_Count num_segments, int target_rank, MPI_Datatype target_input_segment_datatype,
               MPI_Aint target_persistent_disp, MPI_Count target_persistent_count,
               MPI_Datatype target_persistent_datatype, MPI_Datatype target_output_segment_datatype,
               MPI_Op am_op, MPI_Win win, MPI_Request *request);

/* The same, raising the counter notification_idx of the target when the message has run there: see
 * the notified operations of MPI-5.1, 12.6, in sidelight_notify.h. */
int MPIX_Am_notify(const void *origin_input_addr, int origin_input_segment_count,
                   MPI_Datatype origin_input_segment_datatype, void *origin_output_addr,
                   int origin_output_segment_count, MPI_Datatype origin_output_segment_datatype,
                   int num_segments, int target_rank, MPI_Datatype target_input_segment_datatype,
                   MPI_Aint target_persistent_disp, int target_persistent_count,
                   MPI_Datatype target_persistent_datatype,
                   MPI_Datatype target_output_segment_datatype, MPI_Op am_op, int notification_idx,
                   MPI_Win win);
int MPIX_Am_notify_c(const void *origin_input_addr, MPI_Count origin_input_segment_count,
                     MPI_Datatype origin_input_segment_datatype, void *origin_output_addr,
                     MPI_Count origin_output_segment_count,
                     MPI_Datatype origin_output_segment_datatype, MPI_Count num_segments,
                     int target_rank, MPI_Datatype target_input_segment_datatype,
                     MPI_Aint target_persistent_disp, MPI_Count target_persistent_count,
                     MPI_Datatype target_persistent_datatype,
                     MPI_Datatype target_output_segment_datatype, MPI_Op am_op,
                     int notification_idx, MPI_Win win);
int MPIX_Ram_notify(const void *origin_input_addr, int origin_input_segment_count,
                    MPI_Datatype origin_input_segment_datatype, void *origin_output_addr,
                    int origin_output_segment_count, MPI_Datatype origin_output_segment_datatype,
                    int num_segments, int target_rank, MPI_Datatype target_input_segment_datatype,
                    MPI_Aint target_persistent_disp, int target_persistent_count,
                    MPI_Datatype target_persistent_datatype,
                    MPI_Datatype target_output_segment_datatype, MPI_Op am_op, int notification_idx,
                    MPI_Win win, MPI_Request *request);
int MPIX_Ram_notify_c(const void *origin_input_addr, MPI_Count origin_input_segment_count,
                      MPI_Datatype origin_input_segment_datatype, void *origin_output_addr,
                      MPI_Count origin_output_segment_count,
                      MPI_Datatype origin_output_segment_datatype, MPI_Count num_segments,
                      int target_rank, MPI_Datatype target_input_segment_datatype,
                      MPI_Aint target_persistent_disp, MPI_Count target_persistent_count,
                      MPI_Datatype target_persistent_datatype,
                      MPI_Datatype target_output_segment_datatype, MPI_Op am_op,
                      int notification_idx, MPI_Win win, MPI_Request *request);

/* Temporary memory for the messages that come to this process in that window, of all origins: one
 * buffer at a time (else MPI_ERR_BUFFER), which belongs to the library until it is detached. Local.
 * Detach waits until no message uses it; those that need it and have nothing of it yet fail. */
int MPIX_Am_win_buffer_attach(void *buffer, MPI_Aint size, MPI_Win win);
int MPIX_Am_win_buffer_detach(MPI_Win win);

#ifdef __cplusplus
}
#endif

#endif /* SIDELIGHT_AM_H */
