! SPDX-License-Identifier: BSD-3-Clause
! Sidelight: nonblocking epochs for MPI one-sided communication, for programs that use the module
! mpi or mpif.h. As sidelight_f08.f90, where more is said, with integers for handles. A program may
! also call these subroutines without any module; then ierror may not be left out.
module sidelight_mpi
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none
    private :: c_int

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

        ! --- About the library

        ! Write what each window of this process waits for, as sidelight_dump of C; to standard
        ! error with fd=2.
        subroutine sidelight_dump(fd) bind(C, name='sidelight_dump')
            import :: c_int
            integer(c_int), value, intent(in) :: fd
        end subroutine sidelight_dump

    end interface

end module sidelight_mpi
