! SPDX-License-Identifier: BSD-3-Clause
! Sidelight: notified operations and their counters (MPI-5.1, 12.6), for programs that use mpi_f08.
! What the calls promise: include/sidelight_notify.h. Compiled with the program, as
! sidelight_f08.f90; as there, buffers have to lie in one block until the operation is complete.
! Every name with MPI_ exists with MPIX_, too.
module sidelight_notify_f08
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_intptr_t
    use mpi_f08, only: MPI_Datatype, MPI_Info, MPI_Op, MPI_Request, MPI_Win
    implicit none
    private :: c_int, c_int64_t, c_intptr_t, &
        MPI_Datatype, MPI_Info, MPI_Op, MPI_Request, MPI_Win

    integer(c_int), parameter :: MPI_WIN_NOTIFICATION_NUM_SB = int(z'5ade0001', c_int)
    integer(c_int), parameter :: MPI_WIN_NOTIFICATION_NUM_UB = int(z'5ade0003', c_int)
    integer(c_int), parameter :: MPI_WIN_NOTIFICATION_VALUE_UB = int(z'5ade0005', c_int)

    interface

        subroutine MPI_Win_set_num_notify(win, info, num_notifications, ierror) &
            bind(C, name='mpi_win_set_num_notify_')
            import :: c_int, MPI_Info, MPI_Win
            type(MPI_Win), intent(in) :: win
            type(MPI_Info), intent(in) :: info
            integer(c_int), intent(in) :: num_notifications
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Win_set_num_notify

        subroutine MPI_Win_get_num_notify(win, rank, num_notifications, ierror) &
            bind(C, name='mpi_win_get_num_notify_')
            import :: c_int, MPI_Win
            type(MPI_Win), intent(in) :: win
            integer(c_int), intent(in) :: rank
            integer(c_int), intent(out) :: num_notifications
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Win_get_num_notify

        subroutine MPI_Win_get_notify_value(win, notification_idx, value, ierror) &
            bind(C, name='mpi_win_get_notify_value_')
            import :: c_int, c_int64_t, MPI_Win
            type(MPI_Win), intent(in) :: win
            integer(c_int), intent(in) :: notification_idx
            integer(c_int64_t), intent(out) :: value
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Win_get_notify_value

        subroutine MPI_Win_reset_notify_value(win, notification_idx, value, ierror) &
            bind(C, name='mpi_win_reset_notify_value_')
            import :: c_int, c_int64_t, MPI_Win
            type(MPI_Win), intent(in) :: win
            integer(c_int), intent(in) :: notification_idx
            integer(c_int64_t), intent(out) :: value
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Win_reset_notify_value

        subroutine MPIX_Win_notify_ithreshold(win, notification_idx, expected, request, ierror) &
            bind(C, name='mpix_win_notify_ithreshold_')
            import :: c_int, c_int64_t, MPI_Request, MPI_Win
            type(MPI_Win), intent(in) :: win
            integer(c_int), intent(in) :: notification_idx
            integer(c_int64_t), intent(in) :: expected
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_notify_ithreshold

        ! The error class MPI_ERR_RMA_NOTIFICATION, which the host gets when it is first asked for.
        function MPIX_Err_rma_notification() result(class) &
            bind(C, name='mpix_err_rma_notification_')
            import :: c_int
            integer(c_int) :: class
        end function MPIX_Err_rma_notification

    end interface

    interface MPI_Put_notify

        subroutine MPI_Put_notify_int(origin_addr, origin_count, origin_datatype, target_rank, &
            target_disp, target_count, target_datatype, notification_idx, win, ierror) bind(C, &
            name='mpi_put_notify_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Put_notify_int

        subroutine MPI_Put_notify_large(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, notification_idx, win, &
            ierror) bind(C, name='mpi_put_notify_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int64_t), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Put_notify_large

    end interface MPI_Put_notify

    interface MPI_Rput_notify

        subroutine MPI_Rput_notify_int(origin_addr, origin_count, origin_datatype, target_rank, &
            target_disp, target_count, target_datatype, notification_idx, win, request, ierror) &
            bind(C, name='mpi_rput_notify_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Rput_notify_int

        subroutine MPI_Rput_notify_large(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, notification_idx, win, &
            request, ierror) bind(C, name='mpi_rput_notify_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int64_t), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Rput_notify_large

    end interface MPI_Rput_notify

    interface MPI_Get_notify

        subroutine MPI_Get_notify_int(origin_addr, origin_count, origin_datatype, target_rank, &
            target_disp, target_count, target_datatype, notification_idx, win, ierror) bind(C, &
            name='mpi_get_notify_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Get_notify_int

        subroutine MPI_Get_notify_large(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, notification_idx, win, &
            ierror) bind(C, name='mpi_get_notify_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), asynchronous :: origin_addr
            integer(c_int64_t), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Get_notify_large

    end interface MPI_Get_notify

    interface MPI_Rget_notify

        subroutine MPI_Rget_notify_int(origin_addr, origin_count, origin_datatype, target_rank, &
            target_disp, target_count, target_datatype, notification_idx, win, request, ierror) &
            bind(C, name='mpi_rget_notify_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Rget_notify_int

        subroutine MPI_Rget_notify_large(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, notification_idx, win, &
            request, ierror) bind(C, name='mpi_rget_notify_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), asynchronous :: origin_addr
            integer(c_int64_t), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Rget_notify_large

    end interface MPI_Rget_notify

    interface MPI_Accumulate_notify

        subroutine MPI_Accumulate_notify_int(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, &
            ierror) bind(C, name='mpi_accumulate_notify_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Op, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Accumulate_notify_int

        subroutine MPI_Accumulate_notify_large(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, &
            ierror) bind(C, name='mpi_accumulate_notify_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Op, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int64_t), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Accumulate_notify_large

    end interface MPI_Accumulate_notify

    interface MPI_Raccumulate_notify

        subroutine MPI_Raccumulate_notify_int(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, &
            request, ierror) bind(C, name='mpi_raccumulate_notify_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Raccumulate_notify_int

        subroutine MPI_Raccumulate_notify_large(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, &
            request, ierror) bind(C, name='mpi_raccumulate_notify_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int64_t), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Raccumulate_notify_large

    end interface MPI_Raccumulate_notify

    interface MPI_Get_accumulate_notify

        subroutine MPI_Get_accumulate_notify_int(origin_addr, origin_count, origin_datatype, &
            result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
            target_datatype, op, notification_idx, win, ierror) bind(C, &
            name='mpi_get_accumulate_notify_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Op, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result_addr
            !DIR$ IGNORE_TKR result_addr
            type(*), asynchronous :: result_addr
            integer(c_int), intent(in) :: origin_count, result_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, result_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Get_accumulate_notify_int

        subroutine MPI_Get_accumulate_notify_large(origin_addr, origin_count, origin_datatype, &
            result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
            target_datatype, op, notification_idx, win, ierror) bind(C, &
            name='mpi_get_accumulate_notify_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Op, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result_addr
            !DIR$ IGNORE_TKR result_addr
            type(*), asynchronous :: result_addr
            integer(c_int64_t), intent(in) :: origin_count, result_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, result_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Get_accumulate_notify_large

    end interface MPI_Get_accumulate_notify

    interface MPI_Rget_accumulate_notify

        subroutine MPI_Rget_accumulate_notify_int(origin_addr, origin_count, origin_datatype, &
            result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
            target_datatype, op, notification_idx, win, request, ierror) bind(C, &
            name='mpi_rget_accumulate_notify_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result_addr
            !DIR$ IGNORE_TKR result_addr
            type(*), asynchronous :: result_addr
            integer(c_int), intent(in) :: origin_count, result_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, result_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Rget_accumulate_notify_int

        subroutine MPI_Rget_accumulate_notify_large(origin_addr, origin_count, origin_datatype, &
            result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
            target_datatype, op, notification_idx, win, request, ierror) bind(C, &
            name='mpi_rget_accumulate_notify_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result_addr
            !DIR$ IGNORE_TKR result_addr
            type(*), asynchronous :: result_addr
            integer(c_int64_t), intent(in) :: origin_count, result_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_datatype, result_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Rget_accumulate_notify_large

    end interface MPI_Rget_accumulate_notify

    ! --- The same with MPIX_

    interface MPIX_Win_set_num_notify
        procedure :: MPI_Win_set_num_notify
    end interface MPIX_Win_set_num_notify

    interface MPIX_Win_get_num_notify
        procedure :: MPI_Win_get_num_notify
    end interface MPIX_Win_get_num_notify

    interface MPIX_Win_get_notify_value
        procedure :: MPI_Win_get_notify_value
    end interface MPIX_Win_get_notify_value

    interface MPIX_Win_reset_notify_value
        procedure :: MPI_Win_reset_notify_value
    end interface MPIX_Win_reset_notify_value

    interface MPIX_Put_notify
        procedure :: MPI_Put_notify_int
        procedure :: MPI_Put_notify_large
    end interface MPIX_Put_notify

    interface MPIX_Rput_notify
        procedure :: MPI_Rput_notify_int
        procedure :: MPI_Rput_notify_large
    end interface MPIX_Rput_notify

    interface MPIX_Get_notify
        procedure :: MPI_Get_notify_int
        procedure :: MPI_Get_notify_large
    end interface MPIX_Get_notify

    interface MPIX_Rget_notify
        procedure :: MPI_Rget_notify_int
        procedure :: MPI_Rget_notify_large
    end interface MPIX_Rget_notify

    interface MPIX_Accumulate_notify
        procedure :: MPI_Accumulate_notify_int
        procedure :: MPI_Accumulate_notify_large
    end interface MPIX_Accumulate_notify

    interface MPIX_Raccumulate_notify
        procedure :: MPI_Raccumulate_notify_int
        procedure :: MPI_Raccumulate_notify_large
    end interface MPIX_Raccumulate_notify

    interface MPIX_Get_accumulate_notify
        procedure :: MPI_Get_accumulate_notify_int
        procedure :: MPI_Get_accumulate_notify_large
    end interface MPIX_Get_accumulate_notify

    interface MPIX_Rget_accumulate_notify
        procedure :: MPI_Rget_accumulate_notify_int
        procedure :: MPI_Rget_accumulate_notify_large
    end interface MPIX_Rget_accumulate_notify

end module sidelight_notify_f08
