! SPDX-License-Identifier: BSD-3-Clause
#include "flavour.inc"
! Every operation and every way to synchronise, on one window of 8-byte words per process.
program operations
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI

    HANDLE(MPI_Win) :: win
    ADDRESS_OF_MEMORY :: base
    integer(word), pointer, asynchronous :: memory(:)
    integer :: ierror

    call check_begin
    call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call expect_window(ierror, win, 'MPI_Win_allocate')
    memory => words_at(base)
    call fences
    call types_of_fortran
    call exposures
    call exclusive_locks
    call fetching
    call requests
    call flushes
    call strided
    call absolute_addresses
    call to_nobody
    call MPI_Win_free(win, ierror)
    call check_end

contains

    ! Displacements count words from 0, memory(:) from 1.
    integer(MPI_ADDRESS_KIND) function at(cell)
        integer, intent(in) :: cell
        at = cell - 1
    end function at

    subroutine fresh_memory
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierror)
        memory = 0
        call MPI_Win_unlock(rank, win, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine fresh_memory

    subroutine fences
        integer(word), asynchronous :: mine(3), found(3)
        call fresh_memory
        mine = [100 + rank, 200 + rank, 300 + rank]
        call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierror)
        call MPI_Put(mine, 3, MPI_INTEGER8, right, at(1), 3, MPI_INTEGER8, win, ierror)
        call expect_success(ierror, 'MPI_Put')
        call MPI_Win_fence(0, win, ierror)
        call check(all(memory(1:3) == [100, 200, 300] + left), 'MPI_Put')
        found = -1
        call MPI_Get(found, 3, MPI_INTEGER8, right, at(1), 3, MPI_INTEGER8, win, ierror)
        call expect_success(ierror, 'MPI_Get')
        call MPI_Win_fence(MPI_MODE_NOSUCCEED + MPI_MODE_NOSTORE, win, ierror)
        call check(all(found == mine), 'MPI_Get')
    end subroutine fences

    ! Types that only Fortran has, added up at rank 0.
    subroutine types_of_fortran
        integer, asynchronous :: numbers(2)
        double precision, asynchronous :: weight
        complex, asynchronous :: point
        complex(kind(1d0)), asynchronous :: wide
        logical, asynchronous :: flag
        character(len=8), asynchronous :: letters
        double precision, asynchronous :: place(2)
        call fresh_memory
        numbers = [rank, 1]
        weight = 0.5d0 * rank
        point = (1.0, -1.0)
        wide = (2d0, 0.25d0)
        flag = rank == ranks - 1
        letters = 'Fortran '
        place = [weight, real(rank, kind(weight))]
        call MPI_Win_fence(0, win, ierror)
        call MPI_Accumulate(numbers, 2, MPI_INTEGER, 0, at(1), 2, MPI_INTEGER, MPI_SUM, win, ierror)
        call MPI_Accumulate(weight, 1, MPI_DOUBLE_PRECISION, 0, at(2), 1, MPI_DOUBLE_PRECISION, &
                            MPI_SUM, win, ierror)
        call MPI_Accumulate(point, 1, MPI_COMPLEX, 0, at(3), 1, MPI_COMPLEX, MPI_SUM, win, ierror)
        call MPI_Accumulate(flag, 1, MPI_LOGICAL, 0, at(4), 1, MPI_LOGICAL, MPI_LOR, win, ierror)
        call MPI_Accumulate(wide, 1, MPI_DOUBLE_COMPLEX, 0, at(5), 1, MPI_DOUBLE_COMPLEX, MPI_SUM, &
                            win, ierror)
        call MPI_Accumulate(place, 1, MPI_2DOUBLE_PRECISION, 0, at(7), 1, MPI_2DOUBLE_PRECISION, &
                            MPI_MAXLOC, win, ierror)
        if (rank == 0) call MPI_Put(letters, 8, MPI_CHARACTER, 0, at(9), 8, MPI_CHARACTER, win, &
                                    ierror)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
        if (rank /= 0) return
        numbers = transfer(memory(1), numbers)
        call check(all(numbers == [ranks * (ranks - 1) / 2, ranks]), 'MPI_INTEGER')
        call check(transfer(memory(2), weight) == 0.25d0 * ranks * (ranks - 1), &
                   'MPI_DOUBLE_PRECISION')
        call check(transfer(memory(3), point) == cmplx(ranks, -ranks), 'MPI_COMPLEX')
        call check(transfer(memory(4), flag), 'MPI_LOGICAL')
        call check(transfer(memory(5:6), wide) == ranks * (2d0, 0.25d0), 'MPI_DOUBLE_COMPLEX')
        place = transfer(memory(7:8), place)
        call check(all(place == [0.5d0, 1d0] * (ranks - 1)), 'MPI_2DOUBLE_PRECISION')
        call check(transfer(memory(9), letters) == letters, 'MPI_CHARACTER')
    end subroutine types_of_fortran

    subroutine exposures
        HANDLE(MPI_Group) :: world, origins, targets
        integer(word), asynchronous :: mine
        logical :: done
        integer :: round
        call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
        call MPI_Group_incl(world, 1, [left], origins, ierror)
        call MPI_Group_incl(world, 1, [right], targets, ierror)
        do round = 1, 2
            mine = 700 * round + rank
            call MPI_Win_post(origins, 0, win, ierror)
            call MPI_Win_start(targets, 0, win, ierror)
            call MPI_Put(mine, 1, MPI_INTEGER8, right, at(15), 1, MPI_INTEGER8, win, ierror)
            call MPI_Win_complete(win, ierror)
            call expect_success(ierror, 'MPI_Win_complete')
            done = round == 1
            if (done) call MPI_Win_wait(win, ierror)
            do while (.not. done)
                call MPI_Win_test(win, done, ierror)
            end do
            call check(memory(15) == 700 * round + left, 'post, start, complete, wait')
        end do
        call MPI_Group_free(origins, ierror)
        call MPI_Group_free(targets, ierror)
        call MPI_Group_free(world, ierror)
    end subroutine exposures

    ! A counter that is read and written under a lock.
    subroutine exclusive_locks
        integer, parameter :: rounds = 20
        integer(word), asynchronous :: next
        integer :: k
        call fresh_memory
        do k = 1, rounds
            call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win, ierror)
            call MPI_Get(next, 1, MPI_INTEGER8, 0, at(10), 1, MPI_INTEGER8, win, ierror)
            call MPI_Win_flush(0, win, ierror)
            next = next + 1
            call MPI_Put(next, 1, MPI_INTEGER8, 0, at(10), 1, MPI_INTEGER8, win, ierror)
            call MPI_Win_unlock(0, win, ierror)
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        if (rank == 0) call check(read_own(10) == rounds * ranks, 'exclusive locks')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine exclusive_locks

    integer(word) function read_own(cell)
        integer, intent(in) :: cell
        call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win, ierror)
        read_own = memory(cell)
        call MPI_Win_unlock(rank, win, ierror)
    end function read_own

    ! The operations that answer, all at rank 0.
    subroutine fetching
        integer(word), asynchronous :: one, old, several(2), olds(2), nothing
        integer(word), asynchronous :: turn, next
        one = 1
        several = [2, 3]
        call fresh_memory
        call MPI_Win_lock_all(0, win, ierror)
        call MPI_Fetch_and_op(one, old, MPI_INTEGER8, 0, at(1), MPI_SUM, win, ierror)
        call MPI_Win_flush(0, win, ierror)
        call check(old >= 0 .and. old < ranks, 'MPI_Fetch_and_op')
        call MPI_Get_accumulate(several, 2, MPI_INTEGER8, olds, 2, MPI_INTEGER8, 0, at(2), 2, &
                                MPI_INTEGER8, MPI_SUM, win, ierror)
        call MPI_Win_flush(0, win, ierror)
        call check(olds(1) * 3 == olds(2) * 2 .and. olds(1) < 2 * ranks, 'MPI_Get_accumulate')
        ! Each rank in its turn.
        turn = rank
        next = rank + 1
        old = -1
        do while (old /= turn)
            call MPI_Compare_and_swap(next, turn, old, MPI_INTEGER8, 0, at(4), win, ierror)
            call MPI_Win_flush(0, win, ierror)
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Get_accumulate(nothing, 0, MPI_INTEGER8, olds, 2, MPI_INTEGER8, 0, at(2), 2, &
                                MPI_INTEGER8, MPI_NO_OP, win, ierror)
        call MPI_Fetch_and_op(nothing, old, MPI_INTEGER8, 0, at(4), MPI_NO_OP, win, ierror)
        call MPI_Win_flush_all(win, ierror)
        call check(all(olds == [2, 3] * ranks), 'MPI_Get_accumulate: the sums')
        call check(old == ranks, 'MPI_Compare_and_swap')
        call MPI_Fetch_and_op(one, old, MPI_INTEGER8, right, at(5), MPI_REPLACE, win, ierror)
        call MPI_Win_unlock_all(win, ierror)
        call check(old == 0, 'MPI_REPLACE')
    end subroutine fetching

    ! The operations with requests, which are waited for in every way.
    subroutine requests
        HANDLE(MPI_Request) :: request, both(2)
        STATUS(status)
        STATUSES(many, 2)
        integer(word), asynchronous :: mine(2), found(2), more(2), old(2)
        logical :: done
        integer :: first
        call fresh_memory
        mine = [10 + rank, 20 + rank]
        call MPI_Win_lock_all(0, win, ierror)
        call MPI_Rput(mine, 2, MPI_INTEGER8, right, at(1), 2, MPI_INTEGER8, win, request, ierror)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call expect_success(ierror, 'MPI_Rput')
        call MPI_Win_flush(right, win, ierror)
        call MPI_Rget(found, 2, MPI_INTEGER8, right, at(1), 2, MPI_INTEGER8, win, request, ierror)
        done = .false.
        do while (.not. done)
            call MPI_Test(request, done, status, ierror)
        end do
        call check(all(found == mine) .and. request == MPI_REQUEST_NULL, 'MPI_Rget')
        call MPI_Test_cancelled(status, done, ierror)
        call check(.not. done, 'a status that is not cancelled')
        call MPI_Raccumulate(mine, 2, MPI_INTEGER8, right, at(3), 2, MPI_INTEGER8, MPI_SUM, win, &
                             both(1), ierror)
        call MPI_Rget_accumulate(mine, 2, MPI_INTEGER8, old, 2, MPI_INTEGER8, right, at(5), 2, &
                                 MPI_INTEGER8, MPI_SUM, win, both(2), ierror)
        call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, ierror)
        call check(all(old == 0) .and. all_null(both), 'MPI_Rget_accumulate')
        call MPI_Win_flush(right, win, ierror)
        call MPI_Rget(found, 2, MPI_INTEGER8, right, at(3), 2, MPI_INTEGER8, win, both(1), ierror)
        call MPI_Rget(more, 2, MPI_INTEGER8, right, at(5), 2, MPI_INTEGER8, win, both(2), ierror)
        call MPI_Waitany(2, both, first, MPI_STATUS_IGNORE, ierror)
        call MPI_Waitall(2, both, many, ierror)
        call check(all(found == mine) .and. all(more == mine), 'MPI_Raccumulate')
        call MPI_Win_unlock_all(win, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine requests

    logical function all_null(those)
        HANDLE(MPI_Request), intent(in) :: those(2)
        all_null = those(1) == MPI_REQUEST_NULL .and. those(2) == MPI_REQUEST_NULL
    end function all_null

    subroutine flushes
        integer(word), asynchronous :: mine
        call fresh_memory
        call MPI_Win_lock_all(MPI_MODE_NOCHECK, win, ierror)
        mine = 1
        call MPI_Accumulate(mine, 1, MPI_INTEGER8, right, at(1), 1, MPI_INTEGER8, MPI_SUM, win, &
                            ierror)
        call MPI_Win_flush_local(right, win, ierror)
        mine = 10
        call MPI_Accumulate(mine, 1, MPI_INTEGER8, right, at(1), 1, MPI_INTEGER8, MPI_SUM, win, &
                            ierror)
        call MPI_Win_flush_local_all(win, ierror)
        mine = 100
        call MPI_Accumulate(mine, 1, MPI_INTEGER8, right, at(1), 1, MPI_INTEGER8, MPI_SUM, win, &
                            ierror)
        call MPI_Win_flush_all(win, ierror)
        call expect_success(ierror, 'MPI_Win_flush_all')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Win_sync(win, ierror)
        call check(memory(1) == 111, 'flushes')
        call MPI_Win_unlock_all(win, ierror)
    end subroutine flushes

    ! A column of a matrix, by a type on both sides.
    subroutine strided
        HANDLE(MPI_Datatype) :: column
        integer(word), asynchronous :: matrix(4, 4)
        integer :: row
        call fresh_memory
        matrix = -1
        matrix(2, :) = [(10 * row + rank, row=1, 4)]
        call MPI_Type_vector(4, 1, 4, MPI_INTEGER8, column, ierror)
        call MPI_Type_commit(column, ierror)
        call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierror)
        call MPI_Put(matrix(2, 1), 1, column, right, at(3), 1, column, win, ierror)
        call MPI_Type_free(column, ierror)
        call MPI_Win_unlock(right, win, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call check(read_own(3) == 10 + left .and. read_own(15) == 40 + left .and. &
                   read_own(4) == 0, 'a vector type')
    end subroutine strided

    ! MPI_BOTTOM, from where a type with addresses counts.
    subroutine absolute_addresses
        HANDLE(MPI_Datatype) :: both
        integer(word), asynchronous, save :: first = 1, second = 2
        integer(MPI_ADDRESS_KIND) :: places(2)
        call fresh_memory
        call MPI_Get_address(first, places(1), ierror)
        call MPI_Get_address(second, places(2), ierror)
        call MPI_Type_create_hindexed(2, [1, 1], places, MPI_INTEGER8, both, ierror)
        call MPI_Type_commit(both, ierror)
        call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierror)
        call MPI_Put(MPI_BOTTOM, 1, both, right, at(7), 2, MPI_INTEGER8, win, ierror)
        call expect_success(ierror, 'MPI_BOTTOM')
        call MPI_Win_unlock(right, win, ierror)
        call MPI_Type_free(both, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call check(read_own(7) == 1 .and. read_own(8) == 2, 'MPI_BOTTOM')
    end subroutine absolute_addresses

    subroutine to_nobody
        HANDLE(MPI_Request) :: request
        integer(word), asynchronous :: value
        value = 77
        call MPI_Win_lock_all(0, win, ierror)
        call MPI_Put(value, 1, MPI_INTEGER8, MPI_PROC_NULL, at(1), 1, MPI_INTEGER8, win, ierror)
        call expect_success(ierror, 'MPI_PROC_NULL')
        call MPI_Rget(value, 1, MPI_INTEGER8, MPI_PROC_NULL, at(1), 1, MPI_INTEGER8, win, request, &
                      ierror)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call MPI_Win_unlock_all(win, ierror)
        call check(value == 77, 'MPI_PROC_NULL')
    end subroutine to_nobody
end program operations
