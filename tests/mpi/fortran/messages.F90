! SPDX-License-Identifier: BSD-3-Clause
#include "flavour.inc"
! Large messages from Fortran move on while their receiver computes: its sender waits for a small
! part of that time. Wide margins: without progress it waits for all of it.
program messages
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI

    integer, parameter :: many = 250000, rounds = 3, tag = 5
    double precision, parameter :: computing = 1d0
    integer, asynchronous :: given(many), taken(many)
    integer :: i, ierror

    call check_begin
    do i = 1, rounds
        given = i
        taken = 0
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        if (rank == 0) then
            call send
        else if (rank == 1) then
            call receive(i)
        end if
    end do
    call check_end

contains

    subroutine send
        double precision :: start
        start = MPI_Wtime()
        call MPI_Send(given, many, MPI_INTEGER, 1, tag, MPI_COMM_WORLD, ierror)
        call check(MPI_Wtime() - start < computing / 2, 'the sender does not wait')
    end subroutine send

    ! Completed in another way each time.
    subroutine receive(round)
        integer, intent(in) :: round
        HANDLE(MPI_Request) :: requests(1)
        STATUSES(statuses, 1)
        double precision :: start
        logical :: done
        call MPI_Irecv(taken, many, MPI_INTEGER, 0, tag, MPI_COMM_WORLD, requests(1), ierror)
        start = MPI_Wtime()
        do while (MPI_Wtime() - start < computing)
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
