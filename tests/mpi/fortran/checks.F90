! SPDX-License-Identifier: BSD-3-Clause
#include "flavour.inc"
! What all the programs begin and end with. Like every Fortran program they know nothing of
! Sidelight; with the argument "sidelight" they demand that their windows are Sidelight's.
module checks
    USE_MPI
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int64_t, c_null_ptr, c_ptr
    implicit none
    INCLUDE_MPI
    private
    public :: check, check_begin, check_end, expect_success, expect_window, host_is_open_mpi, &
              is_sidelights, words_at

    integer, parameter, public :: word = c_int64_t
    integer, parameter, public :: words = 16 ! in the memory of a window
    integer(MPI_ADDRESS_KIND), parameter, public :: word_bytes = 8, window_bytes = words * word_bytes

    integer, public :: rank, ranks, left, right
    logical, public :: under_sidelight
    integer :: failures = 0

    ! Where a window is, by its first byte: an integer, or with mpi_f08 a pointer.
    interface words_at
        procedure :: words_at_address, words_at_pointer
    end interface words_at

contains

    subroutine check_begin
        character(len=32) :: argument
        integer :: ierror
        call get_command_argument(1, argument)
        under_sidelight = argument == 'sidelight'
        call MPI_Init(ierror)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
        right = mod(rank + 1, ranks)
        left = mod(rank + ranks - 1, ranks)
    end subroutine check_begin

    subroutine check_end
        integer :: ierror
        call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
        call MPI_Finalize(ierror)
        if (failures /= 0) stop 1
        if (rank == 0) print '(a)', 'ok'
    end subroutine check_end

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(len=*), intent(in) :: what
        if (holds) return
        failures = failures + 1
        print '(a, i0, 2a)', 'rank ', rank, ': not true: ', what
    end subroutine check

    subroutine expect_success(ierror, what)
        integer, intent(in) :: ierror
        character(len=*), intent(in) :: what
        call check(ierror == MPI_SUCCESS, what // ' succeeds')
    end subroutine expect_success

    function words_at_address(address) result(found)
        integer(MPI_ADDRESS_KIND), intent(in) :: address
        integer(word), pointer :: found(:)
        call c_f_pointer(transfer(address, c_null_ptr), found, [words])
    end function words_at_address

    function words_at_pointer(pointer) result(found)
        type(c_ptr), intent(in) :: pointer
        integer(word), pointer :: found(:)
        call c_f_pointer(pointer, found, [words])
    end function words_at_pointer

    logical function host_is_open_mpi()
        character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: text
        integer :: length, ierror
        call MPI_Get_library_version(text, length, ierror)
        host_is_open_mpi = index(text(:length), 'Open MPI') /= 0
    end function host_is_open_mpi

    ! A window of Sidelight tells a hint that no host knows.
    function is_sidelights(win) result(holds)
        HANDLE(MPI_Win), intent(in) :: win
        logical :: holds
        HANDLE(MPI_Info) :: info
        integer :: length, ierror
        call MPI_Win_get_info(win, info, ierror)
        call MPI_Info_get_valuelen(info, 'sidelight_share_memory', length, holds, ierror)
        call MPI_Info_free(info, ierror)
    end function is_sidelights

    ! After a window has been made: that it was, and by whom.
    subroutine expect_window(ierror, win, what)
        integer, intent(in) :: ierror
        HANDLE(MPI_Win), intent(in) :: win
        character(len=*), intent(in) :: what
        call expect_success(ierror, what)
        if (under_sidelight) call check(is_sidelights(win), what // ': the window is Sidelight''s')
    end subroutine expect_window
end module checks
