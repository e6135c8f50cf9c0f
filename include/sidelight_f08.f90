! SPDX-License-Identifier: BSD-3-Clause
! Sidelight: what it adds to MPI one-sided communication, for programs that use mpi_f08. What
! the calls promise: include/sidelight.h; how a program gets them: docs/guide/fortran.md.
!
! A module file belongs to one compiler and one MPI, so this one is compiled with the program:
!
!     mpifort -c sidelight_f08.f90
!     mpifort prog.f90 libsidelight.so
!
! It holds interfaces alone: there is nothing of it to link but the library. As for the nonblocking
! calls of MPI, buffers that an epoch still uses should be ASYNCHRONOUS in the program. Those of the
! calls in here have to lie in one block, on every host, until the operation is complete: of other
! pieces of arrays the compiler passes a copy, which is gone when the call returns.
module sidelight_f08
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_intptr_t
    use mpi_f08, only: MPI_Datatype, MPI_Group, MPI_Info, MPI_Op, MPI_Request, MPI_Win
    implicit none
    private :: c_int, c_int64_t, c_intptr_t
    private :: MPI_Datatype, MPI_Group, MPI_Info, MPI_Op, MPI_Request, MPI_Win

    integer, parameter :: MPIX_MAX_MEMHANDLE_SIZE = 256
    integer, parameter :: MPIX_PROGRESS_AUTO = 0, MPIX_PROGRESS_CALLS = 1
    integer, parameter :: MPIX_PROGRESS_THREAD = 2, MPIX_PROGRESS_SMART = 3

    interface

        ! --- Fence epochs (MPI-4.1, 12.5.1)

        subroutine MPIX_Win_ifence(assert, win, request, ierror) bind(C, name='mpix_win_ifence_')
            import :: c_int, MPI_Request, MPI_Win
            integer(c_int), intent(in) :: assert
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_ifence

        ! --- Access and exposure epochs (MPI-4.1, 12.5.2)

        subroutine MPIX_Win_ipost(group, assert, win, request, ierror) &
            bind(C, name='mpix_win_ipost_')
            import :: c_int, MPI_Group, MPI_Request, MPI_Win
            type(MPI_Group), intent(in) :: group
            integer(c_int), intent(in) :: assert
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_ipost

        subroutine MPIX_Win_istart(group, assert, win, request, ierror) &
            bind(C, name='mpix_win_istart_')
            import :: c_int, MPI_Group, MPI_Request, MPI_Win
            type(MPI_Group), intent(in) :: group
            integer(c_int), intent(in) :: assert
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_istart

        subroutine MPIX_Win_icomplete(win, request, ierror) bind(C, name='mpix_win_icomplete_')
            import :: c_int, MPI_Request, MPI_Win
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_icomplete

        subroutine MPIX_Win_iwait(win, request, ierror) bind(C, name='mpix_win_iwait_')
            import :: c_int, MPI_Request, MPI_Win
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iwait

        ! --- Passive target epochs (MPI-4.1, 12.5.3)

        subroutine MPIX_Win_ilock(lock_type, rank, assert, win, request, ierror) &
            bind(C, name='mpix_win_ilock_')
            import :: c_int, MPI_Request, MPI_Win
            integer(c_int), intent(in) :: lock_type, rank, assert
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_ilock

        subroutine MPIX_Win_iunlock(rank, win, request, ierror) bind(C, name='mpix_win_iunlock_')
            import :: c_int, MPI_Request, MPI_Win
            integer(c_int), intent(in) :: rank
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iunlock

        subroutine MPIX_Win_ilock_all(assert, win, request, ierror) &
            bind(C, name='mpix_win_ilock_all_')
            import :: c_int, MPI_Request, MPI_Win
            integer(c_int), intent(in) :: assert
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_ilock_all

        subroutine MPIX_Win_iunlock_all(win, request, ierror) bind(C, name='mpix_win_iunlock_all_')
            import :: c_int, MPI_Request, MPI_Win
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iunlock_all

        ! --- Flushes (MPI-4.1, 12.5.4)

        subroutine MPIX_Win_iflush(rank, win, request, ierror) bind(C, name='mpix_win_iflush_')
            import :: c_int, MPI_Request, MPI_Win
            integer(c_int), intent(in) :: rank
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iflush

        subroutine MPIX_Win_iflush_all(win, request, ierror) bind(C, name='mpix_win_iflush_all_')
            import :: c_int, MPI_Request, MPI_Win
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iflush_all

        subroutine MPIX_Win_iflush_local(rank, win, request, ierror) &
            bind(C, name='mpix_win_iflush_local_')
            import :: c_int, MPI_Request, MPI_Win
            integer(c_int), intent(in) :: rank
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iflush_local

        subroutine MPIX_Win_iflush_local_all(win, request, ierror) &
            bind(C, name='mpix_win_iflush_local_all_')
            import :: c_int, MPI_Request, MPI_Win
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_iflush_local_all

        ! --- Duplicated windows

        subroutine MPIX_Win_dup_with_info(win, info, newwin, ierror) &
            bind(C, name='mpix_win_dup_with_info_')
            import :: c_int, MPI_Info, MPI_Win
            type(MPI_Win), intent(in) :: win
            type(MPI_Info), intent(in) :: info
            type(MPI_Win), intent(out) :: newwin
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_dup_with_info

        ! --- Memory handles

        ! A handle has MPIX_MAX_MEMHANDLE_SIZE bytes at most.
        subroutine MPIX_Memhandle_create(base, size, info, parentwin, memhandle, memhandle_size, &
            ierror) bind(C, name='mpix_memhandle_create_')
            import :: c_int, c_intptr_t, MPI_Info, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: base, memhandle
            !DIR$ IGNORE_TKR base, memhandle
            type(*), asynchronous :: base
            integer(c_intptr_t), intent(in) :: size
            type(MPI_Info), intent(in) :: info
            type(MPI_Win), intent(in) :: parentwin
            type(*) :: memhandle
            integer(c_int), intent(out) :: memhandle_size
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Memhandle_create

        subroutine MPIX_Win_from_memhandle(memhandle, size, disp_unit, info, target, parentwin, &
            newwin, ierror) bind(C, name='mpix_win_from_memhandle_')
            import :: c_int, c_intptr_t, MPI_Info, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: memhandle
            !DIR$ IGNORE_TKR memhandle
            type(*), intent(in) :: memhandle
            integer(c_intptr_t), intent(in) :: size
            integer(c_int), intent(in) :: disp_unit
            type(MPI_Info), intent(in) :: info
            integer(c_int), intent(in) :: target
            type(MPI_Win), intent(in) :: parentwin
            type(MPI_Win), intent(out) :: newwin
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Win_from_memhandle

        subroutine MPIX_Memhandle_release(memhandle, parentwin, ierror) &
            bind(C, name='mpix_memhandle_release_')
            import :: c_int, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: memhandle
            !DIR$ IGNORE_TKR memhandle
            type(*) :: memhandle
            type(MPI_Win), intent(in) :: parentwin
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

    end interface

    ! --- Operations with a request that waits for the target

    interface MPIX_Rrput

        subroutine MPIX_Rrput_int(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, win, request, &
            ierror) &
            bind(C, name='mpix_rrput_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count, target_rank
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Rrput_int

        subroutine MPIX_Rrput_large(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, win, request, &
            ierror) &
            bind(C, name='mpix_rrput_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int64_t), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Rrput_large

    end interface MPIX_Rrput

    interface MPIX_Rraccumulate

        subroutine MPIX_Rraccumulate_int(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, op, win, request, &
            ierror) &
            bind(C, name='mpix_rraccumulate_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int), intent(in) :: origin_count, target_count, target_rank
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Rraccumulate_int

        subroutine MPIX_Rraccumulate_large(origin_addr, origin_count, origin_datatype, &
            target_rank, target_disp, target_count, target_datatype, op, win, request, &
            ierror) &
            bind(C, name='mpix_rraccumulate_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            integer(c_int64_t), intent(in) :: origin_count, target_count
            integer(c_int), intent(in) :: target_rank
            type(MPI_Datatype), intent(in) :: origin_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Rraccumulate_large

    end interface MPIX_Rraccumulate

    interface MPIX_Rrget_accumulate

        subroutine MPIX_Rrget_accumulate_int(origin_addr, origin_count, origin_datatype, &
            result_addr, result_count, result_datatype, target_rank, target_disp, &
            target_count, target_datatype, op, win, request, ierror) &
            bind(C, name='mpix_rrget_accumulate_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result_addr
            !DIR$ IGNORE_TKR result_addr
            type(*), asynchronous :: result_addr
            integer(c_int), intent(in) :: origin_count, result_count, target_count, target_rank
            type(MPI_Datatype), intent(in) :: origin_datatype, result_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Rrget_accumulate_int

        subroutine MPIX_Rrget_accumulate_large(origin_addr, origin_count, &
            origin_datatype, result_addr, result_count, result_datatype, target_rank, &
            target_disp, target_count, target_datatype, op, win, request, ierror) &
            bind(C, name='mpix_rrget_accumulate_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_addr
            !DIR$ IGNORE_TKR origin_addr
            type(*), intent(in), asynchronous :: origin_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: result_addr
            !DIR$ IGNORE_TKR result_addr
            type(*), asynchronous :: result_addr
            integer(c_int64_t), intent(in) :: origin_count, result_count, target_count
            integer(c_int), intent(in) :: target_rank
            type(MPI_Datatype), intent(in) :: origin_datatype, result_datatype, target_datatype
            integer(c_intptr_t), intent(in) :: target_disp
            type(MPI_Op), intent(in) :: op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Rrget_accumulate_large

    end interface MPIX_Rrget_accumulate

    ! --- Accumulates of the origin's own

    interface

        subroutine MPIX_Win_op_intrinsic(ops, max_count, datatype, win, flag, ierror)
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Win
            character(len=*), intent(in) :: ops
            integer(c_intptr_t), intent(in) :: max_count
            type(MPI_Datatype), intent(in) :: datatype
            type(MPI_Win), intent(in) :: win
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

end module sidelight_f08
