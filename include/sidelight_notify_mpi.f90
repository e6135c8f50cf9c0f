! SPDX-License-Identifier: BSD-3-Clause
! Sidelight: notified operations and their counters (MPI-5.1, 12.6), for programs that use the
! module mpi or mpif.h. As sidelight_notify_f08.f90, with integers for handles. A program may also
! call these subroutines without any module; then ierror may not be left out.
module sidelight_notify_mpi
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_intptr_t
    implicit none
    private :: c_int, c_int64_t, c_intptr_t

    integer(c_int), parameter :: MPI_WIN_NOTIFICATION_NUM_SB = int(z'5ade0001', c_int)
    integer(c_int), parameter :: MPI_WIN_NOTIFICATION_NUM_UB = int(z'5ade0003', c_int)
    integer(c_int), parameter :: MPI_WIN_NOTIFICATION_VALUE_UB = int(z'5ade0005', c_int)

    interface

        subroutine MPI_Win_set_num_notify(win, info, num_notifications, ierror) &
            bind(C, name='mpi_win_set_num_notify_')
            import :: c_int
            integer(c_int), intent(in) :: win
            integer(c_int), intent(in) :: info
            integer(c_int), intent(in) :: num_notifications
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Win_set_num_notify

        subroutine MPI_Win_get_num_notify(win, rank, num_notifications, ierror) &
            bind(C, name='mpi_win_get_num_notify_')
            import :: c_int
            integer(c_int), intent(in) :: win
            integer(c_int), intent(in) :: rank
            integer(c_int), intent(out) :: num_notifications
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Win_get_num_notify

        subroutine MPI_Win_get_notify_value(win, notification_idx, value, ierror) &
            bind(C, name='mpi_win_get_notify_value_')
            import :: c_int, c_int64_t
            integer(c_int), intent(in) :: win
            integer(c_int), intent(in) :: notification_idx
            integer(c_int64_t), intent(out) :: value
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Win_get_notify_value

        subroutine MPI_Win_reset_notify_value(win, notification_idx, value, ierror) &
            bind(C, name='mpi_win_reset_notify_value_')
            import :: c_int, c_int64_t
            integer(c_int), intent(in) :: win
            integer(c_int), intent(in) :: notification_idx
            integer(c_int64_t), intent(out) :: value
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Win_reset_notify_value

        subroutine MPIX_Win_notify_ithreshold(win, notification_idx, expected, request, ierror) &
            bind(C, name='mpix_win_notify_ithreshold_')
            import :: c_int, c_int64_t
            integer(c_int), intent(in) :: win
            integer(c_int), intent(in) :: notification_idx
            integer(c_int64_t), intent(in) :: expected
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_notify_ithreshold

        ! The error class MPI_ERR_RMA_NOTIFICATION, which the host gets when it is first asked for.
        function MPIX_Err_rma_notification() result(class) &
            bind(C, name='mpix_err_rma_notification_')
            import :: c_int
            integer(c_int) :: class
        end function MPIX_Err_rma_notification

        subroutine MPI_Put_notify(origin_addr, origin_count, origin_datatype, target_rank, &
            target_disp, target_count, target_datatype, notification_idx, win, ierror) bind(C, &
            name='mpi_put_notify_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            integer(c_int), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Put_notify

        subroutine MPI_Rput_notify(origin_addr, origin_count, origin_datatype, target_rank, &
            target_disp, target_count, target_datatype, notification_idx, win, request, ierror) &
            bind(C, name='mpi_rput_notify_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            integer(c_int), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Rput_notify

        subroutine MPI_Get_notify(origin_addr, origin_count, origin_datatype, target_rank, &
            target_disp, target_count, target_datatype, notification_idx, win, ierror) bind(C, &
            name='mpi_get_notify_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            integer(c_int), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Get_notify

        subroutine MPI_Rget_notify(origin_addr, origin_count, origin_datatype, target_rank, &
            target_disp, target_count, target_datatype, notification_idx, win, request, ierror) &
            bind(C, name='mpi_rget_notify_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            integer(c_int), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Rget_notify

        subroutine MPI_Accumulate_notify(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, &
            ierror) bind(C, name='mpi_accumulate_notify_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            integer(c_int), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(in) :: op
            integer(c_int), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Accumulate_notify

        subroutine MPI_Raccumulate_notify(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, op, notification_idx, win, &
            request, ierror) bind(C, name='mpi_raccumulate_notify_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            integer(c_int), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(in) :: op
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Raccumulate_notify

        subroutine MPI_Get_accumulate_notify(origin_addr, origin_count, origin_datatype, &
            result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
            target_datatype, op, notification_idx, win, ierror) bind(C, &
            name='mpi_get_accumulate_notify_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result_addr
            !DIR$ IGNORE_TKR result_addr
            type(*), asynchronous :: result_addr
            integer(c_int), intent(in) :: origin_count, result_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            integer(c_int), intent(in) :: origin_datatype, result_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(in) :: op
            integer(c_int), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Get_accumulate_notify

        subroutine MPI_Rget_accumulate_notify(origin_addr, origin_count, origin_datatype, &
            result_addr, result_count, result_datatype, target_rank, target_disp, target_count, &
            target_datatype, op, notification_idx, win, request, ierror) bind(C, &
            name='mpi_rget_accumulate_notify_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result_addr
            !DIR$ IGNORE_TKR result_addr
            type(*), asynchronous :: result_addr
            integer(c_int), intent(in) :: origin_count, result_count, target_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            integer(c_int), intent(in) :: origin_datatype, result_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(in) :: op
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPI_Rget_accumulate_notify

    end interface

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
        procedure :: MPI_Put_notify
    end interface MPIX_Put_notify

    interface MPIX_Rput_notify
        procedure :: MPI_Rput_notify
    end interface MPIX_Rput_notify

    interface MPIX_Get_notify
        procedure :: MPI_Get_notify
    end interface MPIX_Get_notify

    interface MPIX_Rget_notify
        procedure :: MPI_Rget_notify
    end interface MPIX_Rget_notify

    interface MPIX_Accumulate_notify
        procedure :: MPI_Accumulate_notify
    end interface MPIX_Accumulate_notify

    interface MPIX_Raccumulate_notify
        procedure :: MPI_Raccumulate_notify
    end interface MPIX_Raccumulate_notify

    interface MPIX_Get_accumulate_notify
        procedure :: MPI_Get_accumulate_notify
    end interface MPIX_Get_accumulate_notify

    interface MPIX_Rget_accumulate_notify
        procedure :: MPI_Rget_accumulate_notify
    end interface MPIX_Rget_accumulate_notify

end module sidelight_notify_mpi
