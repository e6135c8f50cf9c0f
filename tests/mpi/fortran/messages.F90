! SPDX-License-Identifier: BSD-3-Clause
#include "flavour.inc"
! Large messages from Fortran move on while their receiver computes: it does so until the sender has
! written into its memory what it writes only after its call. Without progress that never happens.
! So does a collective whose datatype has been freed: its attributes go while the program is in MPI.
module attributes
    USE_MPI
    implicit none
    INCLUDE_MPI
    logical, volatile :: computing = .false.
    integer, volatile :: deletions = 0, beside = 0

contains

    subroutine deleted(datatype, keyval, value, extra, ierror)
        HANDLE(MPI_Datatype) :: datatype
        integer :: keyval, ierror
        integer(MPI_ADDRESS_KIND) :: value, extra
        deletions = deletions + 1
        if (computing) then
            beside = beside + 1
        end if
        ierror = MPI_SUCCESS
    end subroutine deleted
end module attributes

program messages
    USE_MPI
    use attributes, only: computing, deletions, beside, deleted
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
    call free_type_under_way
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

    ! From now on nothing moves beside the program.
    subroutine free_type_under_way
        HANDLE(MPI_Datatype) :: some
        HANDLE(MPI_Request) :: request
        integer :: keyval, start, now, per_second
        call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, deleted, keyval, &
                                    0_MPI_ADDRESS_KIND, ierror)
        call MPI_Type_vector(many / 2 / ranks, 1, 2, MPI_INTEGER, some, ierror)
        call MPI_Type_commit(some, ierror)
        call MPI_Type_set_attr(some, keyval, 1_MPI_ADDRESS_KIND, ierror)
        call MPI_Ialltoall(given, 1, some, taken, 1, some, MPI_COMM_WORLD, request, ierror)
        call MPI_Type_free(some, ierror)
        computing = .true.
        call system_clock(start, per_second)
        do
            call system_clock(now)
            if (now - start > per_second) exit
        end do
        computing = .false.
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call check(deletions == 1, 'the attribute is deleted once')
        call check(beside == 0, 'by the program')
        call MPI_Type_free_keyval(keyval, ierror)
    end subroutine free_type_under_way
end program messages
