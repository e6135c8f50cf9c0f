! SPDX-License-Identifier: BSD-3-Clause
#include "flavour.inc"
! What only mpi_f08 has: no ierror, pieces of arrays as buffers, counts of more than 31 bits, and
! PMPI names of its own.
program modern
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
    use checks
    implicit none

    integer(MPI_ADDRESS_KIND), parameter :: first = 0
    type(MPI_Win) :: win
    type(c_ptr) :: base
    integer(word), pointer, asynchronous :: memory(:)

    call check_begin
    call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
    call expect_window(MPI_SUCCESS, win, 'MPI_Win_allocate')
    call c_f_pointer(base, memory, [words])
    call every_call
    call pieces
    call pieces_of_a_deferred_epoch
    call large_counts
    call under_another_name
    call shared_matrix
    call MPI_Win_free(win)
    call check_end

contains

    ! Not one has the last argument.
    subroutine every_call
        type(MPI_Group) :: all
        type(MPI_Request) :: request
        type(MPI_Info) :: info
        integer(word), asynchronous :: one, found, old
        logical :: done
        memory = 0
        one = 1
        call MPI_Win_fence(0, win)
        call MPI_Put(one, 1, MPI_INTEGER8, right, first, 1, MPI_INTEGER8, win)
        call MPI_Win_fence(0, win)
        call MPI_Get(found, 1, MPI_INTEGER8, right, first, 1, MPI_INTEGER8, win)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
        call check(found == 1, 'MPI_Put and MPI_Get')
        call MPI_Win_get_group(win, all)
        call MPI_Win_post(all, 0, win)
        call MPI_Win_start(all, 0, win)
        call MPI_Accumulate(one, 1, MPI_INTEGER8, right, first, 1, MPI_INTEGER8, MPI_SUM, win)
        call MPI_Win_complete(win)
        done = .false.
        do while (.not. done)
            call MPI_Win_test(win, done)
        end do
        call check(memory(1) == 2, 'MPI_Accumulate')
        call MPI_Group_free(all)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_lock_all(0, win)
        call MPI_Rput(one, 1, MPI_INTEGER8, right, first + 1, 1, MPI_INTEGER8, win, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Win_flush_local_all(win)
        call MPI_Win_flush_all(win)
        call MPI_Raccumulate(one, 1, MPI_INTEGER8, right, first + 1, 1, MPI_INTEGER8, MPI_SUM, &
                             win, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Win_flush(right, win)
        call MPI_Fetch_and_op(one, old, MPI_INTEGER8, right, first + 1, MPI_SUM, win)
        call MPI_Win_flush_local(right, win)
        call check(old == 2, 'MPI_Fetch_and_op')
        call MPI_Compare_and_swap(one, 3_word, old, MPI_INTEGER8, right, first + 1, win)
        call MPI_Win_flush(right, win)
        call check(old == 3, 'MPI_Compare_and_swap')
        call MPI_Rget_accumulate(one, 1, MPI_INTEGER8, old, 1, MPI_INTEGER8, right, first + 1, 1, &
                                 MPI_INTEGER8, MPI_SUM, win, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Get_accumulate(one, 1, MPI_INTEGER8, found, 1, MPI_INTEGER8, right, first + 1, 1, &
                                MPI_INTEGER8, MPI_NO_OP, win)
        call MPI_Win_sync(win)
        call MPI_Win_unlock_all(win)
        call check(old == 1 .and. found == 2, 'MPI_Get_accumulate')
        call MPI_Win_get_info(win, info)
        call MPI_Win_set_info(win, info)
        call MPI_Info_free(info)
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine every_call

    ! A row of a matrix is a piece that does not lie in one block.
    subroutine pieces
        integer(word), asynchronous :: matrix(3, 4), found(8)
        integer :: k
        if (.not. MPI_SUBARRAYS_SUPPORTED) return
        matrix = -1
        matrix(2, :) = [(10 * k + rank, k=1, 4)]
        found = -1
        call MPI_Win_fence(0, win)
        call MPI_Put(matrix(2, :), 4, MPI_INTEGER8, right, first + 4, 4, MPI_INTEGER8, win)
        call MPI_Win_fence(0, win)
        call check(all(memory(5:8) == [(10 * k + left, k=1, 4)]), 'MPI_Put of a row')
        call MPI_Get(found(8:2:-2), 4, MPI_INTEGER8, right, first + 4, 4, MPI_INTEGER8, win)
        call MPI_Win_fence(0, win)
        call check(all(found(8:2:-2) == [(10 * k + rank, k=1, 4)]) .and. all(found(1:7:2) == -1), &
                   'MPI_Get into every other element, backwards')
        call MPI_Accumulate(matrix(2, 1:3:2), 2, MPI_INTEGER8, right, first + 5, 2, MPI_INTEGER8, &
                            MPI_SUM, win)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
        call check(all(memory(5:8) == [10, 30, 60, 40] + [1, 2, 2, 1] * left), &
                   'MPI_Accumulate of two elements')
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine pieces

    ! The binding describes the piece by a datatype that it frees when the call returns, long before
    ! the target has opened its exposure. A host may wait for it in MPI_Win_start, Sidelight does not.
    subroutine pieces_of_a_deferred_epoch
        type(MPI_Group) :: world, both
        type(MPI_Request) :: arrived
        integer(word), asynchronous :: mine(7)
        integer :: k
        if (.not. MPI_SUBARRAYS_SUPPORTED .or. .not. under_sidelight) return
        mine = [(100 * k + rank, k=1, 7)]
        call MPI_Comm_group(MPI_COMM_WORLD, world)
        call MPI_Group_incl(world, 2, [0, 1], both)
        if (rank == 0) then
            call MPI_Win_start(both, 0, win)
            call MPI_Put(mine(1:7:3), 3, MPI_INTEGER8, 1, first + 9, 3, MPI_INTEGER8, win)
            call MPI_Ibarrier(MPI_COMM_WORLD, arrived)
            call MPI_Win_post(both, 0, win)
            call MPI_Win_complete(win)
        else if (rank == 1) then
            call MPI_Ibarrier(MPI_COMM_WORLD, arrived)
            call MPI_Wait(arrived, MPI_STATUS_IGNORE)
            call MPI_Win_post(both, 0, win)
            call MPI_Win_start(both, 0, win)
            call MPI_Win_complete(win)
        else
            call MPI_Ibarrier(MPI_COMM_WORLD, arrived)
        end if
        if (rank <= 1) call MPI_Win_wait(win)
        if (rank /= 1) call MPI_Wait(arrived, MPI_STATUS_IGNORE)
        if (rank == 1) call check(all(memory(10:12) == [100, 400, 700]), 'a piece, recorded')
        call MPI_Group_free(both)
        call MPI_Group_free(world)
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine pieces_of_a_deferred_epoch

    subroutine large_counts
#ifdef LARGE_COUNTS
        type(MPI_Win) :: other
        type(c_ptr) :: base_of_other
        integer(MPI_COUNT_KIND), parameter :: two = 2
        integer(word), asynchronous :: mine(2), found(2)
        integer(word), pointer, asynchronous :: there(:)
        call MPI_Win_allocate(window_bytes, int(word_bytes, MPI_ADDRESS_KIND), MPI_INFO_NULL, &
                              MPI_COMM_WORLD, base_of_other, other)
        call expect_window(MPI_SUCCESS, other, 'MPI_Win_allocate with a large unit')
        call c_f_pointer(base_of_other, there, [words])
        there = 0
        mine = [rank, 1]
        call MPI_Win_fence(0, other)
        call MPI_Accumulate(mine, two, MPI_INTEGER8, 0, first + 2, two, MPI_INTEGER8, MPI_SUM, &
                            other)
        call MPI_Put(mine, two, MPI_INTEGER8, right, first + 4, two, MPI_INTEGER8, other)
        call MPI_Win_fence(0, other)
        call MPI_Get(found, two, MPI_INTEGER8, 0, first + 2, two, MPI_INTEGER8, other)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, other)
        call check(all(found == [ranks * (ranks - 1) / 2, ranks]), 'MPI_Accumulate, large count')
        call check(there(5) == left, 'MPI_Put, large count')
        call MPI_Win_free(other)
#endif
    end subroutine large_counts

    subroutine under_another_name
        integer(word), asynchronous :: mine
        mine = 55 + rank
        call PMPI_Win_fence(0, win)
        call PMPI_Put(mine, 1, MPI_INTEGER8, right, first, 1, MPI_INTEGER8, win)
        call PMPI_Win_fence(MPI_MODE_NOSUCCEED, win)
        call check(memory(1) == 55 + left, 'PMPI_Put')
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine under_another_name

    ! Memory of all ranks as one matrix of Fortran, with a column for each.
    subroutine shared_matrix
        type(MPI_Win) :: shared
        type(c_ptr) :: start
        integer(MPI_ADDRESS_KIND) :: bytes
        integer :: unit, k
        real(kind(1d0)), pointer, asynchronous :: matrix(:, :)
        call MPI_Win_allocate_shared(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, start, shared)
        call expect_window(MPI_SUCCESS, shared, 'MPI_Win_allocate_shared')
        call MPI_Win_shared_query(shared, 0, bytes, unit, start)
        call check(bytes == window_bytes .and. unit == 8, 'MPI_Win_shared_query')
        call c_f_pointer(start, matrix, [words, ranks])
        call MPI_Win_lock_all(MPI_MODE_NOCHECK, shared)
        matrix(:, rank + 1) = rank
        call MPI_Win_sync(shared)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_sync(shared)
        call check(all(sum(matrix, 1) == [(words * k, k=0, ranks - 1)]), 'a matrix for all')
        call MPI_Win_unlock_all(shared)
        call MPI_Win_free(shared)
    end subroutine shared_matrix
end program modern
