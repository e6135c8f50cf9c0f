! SPDX-License-Identifier: BSD-3-Clause
#include "flavour.inc"
! Large messages from Fortran move on while their receiver computes: it does so until the sender has
! written into its memory what it writes only after its call. Without progress that never happens.
program messages
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI

    integer, parameter :: many = 250000, rounds = 3, tag = 5
    integer, asynchronous :: given(many), taken(many)
    HANDLE(MPI_Win) :: win
    ADDRESS_OF_MEMORY :: base
    integer(word), pointer, volatile :: sent(:)
    integer :: i, ierror

    call check_begin
    call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    sent => words_at(base)
    sent(1) = 0
    do i = 1, rounds
        given = i
        taken = 0
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        if (rank == 0) then
            call send(i)
        else if (rank == 1) then
            call receive(i)
        end if
    end do
    call MPI_Win_free(win, ierror)
    call check_end

contains

    subroutine send(round)
        integer, intent(in) :: round
        integer(word), asynchronous :: number
        call MPI_Send(given, many, MPI_INTEGER, 1, tag, MPI_COMM_WORLD, ierror)
        number = round
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win, ierror)
        call MPI_Put(number, 1, MPI_INTEGER8, 1, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER8, win, ierror)
        call MPI_Win_unlock(1, win, ierror)
    end subroutine send

    ! Completed in another way each time.
    subroutine receive(round)
        integer, intent(in) :: round
        HANDLE(MPI_Request) :: requests(1)
        STATUSES(statuses, 1)
        logical :: done
        call MPI_Irecv(taken, many, MPI_INTEGER, 0, tag, MPI_COMM_WORLD, requests(1), ierror)
        do while (sent(1) /= round)
        end do
        if (round == 1) then
            call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
        else if (round == 2) then
            call MPI_Waitall(1, requests, statuses, ierror)
        else
            done = .false.
            do while (.not. done)
                call MPI_Test(requests(1), done, MPI_STATUS_IGNORE, ierror)
            end do
        end if
        call check(requests(1) == MPI_REQUEST_NULL, 'the request is gone')
        call check(all(taken == round), 'what has arrived')
    end subroutine receive
end program messages
