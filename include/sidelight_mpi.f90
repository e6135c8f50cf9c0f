! SPDX-License-Identifier: BSD-3-Clause
! Sidelight: what it adds to MPI one-sided communication, for programs that use the module
! mpi or mpif.h. As sidelight_f08.f90, where more is said, with integers for handles. A program may
! also call these subroutines without any module; then ierror may not be left out. One with mpif.h
! has the constants by `use sidelight_mpi, only: MPIX_PROGRESS_SMART` and the like.
module sidelight_mpi
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_intptr_t
    implicit none
    private :: c_int, c_int64_t, c_intptr_t

    integer, parameter :: MPIX_MAX_MEMHANDLE_SIZE = 256
    integer, parameter :: MPIX_PROGRESS_AUTO = 0, MPIX_PROGRESS_CALLS = 1
    integer, parameter :: MPIX_PROGRESS_THREAD = 2, MPIX_PROGRESS_SMART = 3

    interface

        ! --- Fence epochs (MPI-4.1, 12.5.1)

        subroutine MPIX_Win_ifence(assert, win, request, ierror) bind(C, name='mpix_win_ifence_')
            import :: c_int
            integer(c_int), intent(in) :: assert, win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_ifence

        ! --- Access and exposure epochs (MPI-4.1, 12.5.2)

        subroutine MPIX_Win_ipost(group, assert, win, request, ierror) &
            bind(C, name='mpix_win_ipost_')
            import :: c_int
            integer(c_int), intent(in) :: group, assert, win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_ipost

        subroutine MPIX_Win_istart(group, assert, win, request, ierror) &
            bind(C, name='mpix_win_istart_')
            import :: c_int
            integer(c_int), intent(in) :: group, assert, win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_istart

        subroutine MPIX_Win_icomplete(win, request, ierror) bind(C, name='mpix_win_icomplete_')
            import :: c_int
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_icomplete

        subroutine MPIX_Win_iwait(win, request, ierror) bind(C, name='mpix_win_iwait_')
            import :: c_int
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iwait

        ! --- Passive target epochs (MPI-4.1, 12.5.3)

        subroutine MPIX_Win_ilock(lock_type, rank, assert, win, request, ierror) &
            bind(C, name='mpix_win_ilock_')
            import :: c_int
            integer(c_int), intent(in) :: lock_type, rank, assert, win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_ilock

        subroutine MPIX_Win_iunlock(rank, win, request, ierror) bind(C, name='mpix_win_iunlock_')
            import :: c_int
            integer(c_int), intent(in) :: rank, win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iunlock

        subroutine MPIX_Win_ilock_all(assert, win, request, ierror) &
            bind(C, name='mpix_win_ilock_all_')
            import :: c_int
            integer(c_int), intent(in) :: assert, win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_ilock_all

        subroutine MPIX_Win_iunlock_all(win, request, ierror) bind(C, name='mpix_win_iunlock_all_')
            import :: c_int
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iunlock_all

        ! --- Flushes (MPI-4.1, 12.5.4)

        subroutine MPIX_Win_iflush(rank, win, request, ierror) bind(C, name='mpix_win_iflush_')
            import :: c_int
            integer(c_int), intent(in) :: rank, win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iflush

        subroutine MPIX_Win_iflush_all(win, request, ierror) bind(C, name='mpix_win_iflush_all_')
            import :: c_int
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iflush_all

        subroutine MPIX_Win_iflush_local(rank, win, request, ierror) &
            bind(C, name='mpix_win_iflush_local_')
            import :: c_int
            integer(c_int), intent(in) :: rank, win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iflush_local

        subroutine MPIX_Win_iflush_local_all(win, request, ierror) &
            bind(C, name='mpix_win_iflush_local_all_')
            import :: c_int
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iflush_local_all

        ! --- Duplicated windows

        subroutine MPIX_Win_dup_with_info(win, info, newwin, ierror) &
            bind(C, name='mpix_win_dup_with_info_')
            import :: c_int
            integer(c_int), intent(in) :: win, info
            integer(c_int), intent(out) :: newwin
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_dup_with_info

        ! --- Memory handles

        ! A handle has MPIX_MAX_MEMHANDLE_SIZE bytes at most.
        subroutine MPIX_Memhandle_create(base, size, info, parentwin, memhandle, memhandle_size, &
            ierror) bind(C, name='mpix_memhandle_create_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: base, memhandle
            !DIR$ IGNORE_TKR base, memhandle
            type(*), asynchronous :: base
            integer(c_intptr_t), intent(in) :: size
            integer(c_int), intent(in) :: info, parentwin
            type(*) :: memhandle
            integer(c_int), intent(out) :: memhandle_size
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Memhandle_create

        subroutine MPIX_Win_from_memhandle(memhandle, size, disp_unit, info, target, parentwin, &
            newwin, ierror) bind(C, name='mpix_win_from_memhandle_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: memhandle
            !DIR$ IGNORE_TKR memhandle
            type(*), intent(in) :: memhandle
            integer(c_intptr_t), intent(in) :: size
            integer(c_int), intent(in) :: disp_unit, info, target, parentwin
            integer(c_int), intent(out) :: newwin
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_from_memhandle

        subroutine MPIX_Memhandle_release(memhandle, parentwin, ierror) &
            bind(C, name='mpix_memhandle_release_')
            import :: c_int
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: memhandle
            !DIR$ IGNORE_TKR memhandle
            type(*) :: memhandle
            integer(c_int), intent(in) :: parentwin
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Memhandle_release

        ! --- About the library

        ! Whether the library serves the MPI of this process, as sidelight_active of C: 1 or 0.
        function sidelight_active() result(active) bind(C, name='sidelight_active_')
            import :: c_int
            integer(c_int) :: active
        end function sidelight_active

        ! Write what each window of this process waits for, as sidelight_dump of C; to standard
        ! error with fd=2.
        subroutine sidelight_dump(fd) bind(C, name='sidelight_dump_')
            import :: c_int
            integer(c_int), intent(in) :: fd
        end subroutine sidelight_dump

        ! --- Operations with a request that waits for the target

        subroutine MPIX_Rrput(origin_addr, origin_count, origin_datatype, target_rank, &
            target_disp, target_count, target_datatype, win, request, ierror) &
            bind(C, name='mpix_rrput_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count, target_rank, win
            integer(c_int), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Rrput

        subroutine MPIX_Rraccumulate(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, op, win, request, &
            ierror) &
            bind(C, name='mpix_rraccumulate_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count, target_rank, win
            integer(c_int), intent(in) :: origin_datatype, target_datatype, op
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Rraccumulate

        subroutine MPIX_Rrget_accumulate(origin_addr, origin_count, origin_datatype, &
            result_addr, result_count, result_datatype, target_rank, target_disp, &
            target_count, target_datatype, op, win, request, ierror) &
            bind(C, name='mpix_rrget_accumulate_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result_addr
            !DIR$ IGNORE_TKR result_addr
            type(*), asynchronous :: result_addr
            integer(c_int), intent(in) :: origin_count, result_count, target_count, target_rank, win
            integer(c_int), intent(in) :: origin_datatype, result_datatype, target_datatype, op
            integer(c_intptr_t), intent(in) :: target_disp
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Rrget_accumulate

        ! --- Accumulates of the origin's own

        subroutine MPIX_Win_op_intrinsic(ops, max_count, datatype, win, flag, ierror)
            import :: c_int, c_intptr_t
            character(len=*), intent(in) :: ops
            integer(c_intptr_t), intent(in) :: max_count
            integer(c_int), intent(in) :: datatype, win
            logical, intent(out) :: flag
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_op_intrinsic

    end interface

    ! --- Progress while the program computes

    interface

        subroutine MPIX_Progress_set(mode, ierror) bind(C, name='mpix_progress_set_')
            import :: c_int
            integer(c_int), intent(in) :: mode
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Progress_set

        subroutine MPIX_Progress_get(mode, ierror) bind(C, name='mpix_progress_get_')
            import :: c_int
            integer(c_int), intent(out) :: mode
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Progress_get

        subroutine MPIX_Progress_counts(calls, messages, futile, delay, ierror) &
            bind(C, name='mpix_progress_counts_')
            import :: c_int, c_int64_t
            integer(c_int64_t), intent(out) :: calls, messages, futile, delay
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Progress_counts

    end interface

end module sidelight_mpi
