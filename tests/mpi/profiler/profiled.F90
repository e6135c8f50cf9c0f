! SPDX-License-Identifier: BSD-3-Clause
! The program of profiled.c in Fortran, with -DMPIF_H, -DMODULE_MPI or -DMODULE_MPI_F08.
#include "flavour.inc"
program profiled
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI

    integer, parameter :: rounds = 10
    HANDLE(MPI_Win) :: win
    ADDRESS_OF_MEMORY :: base
    integer(word), pointer, asynchronous :: memory(:)
    integer(word), asynchronous :: value, old, got
    integer(MPI_ADDRESS_KIND) :: cell, bytes
    integer :: k, ierror
    logical :: flag

    call check_begin
    call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    print '(a, i0, a, i0)', 'profiled: rank=', rank, ' sidelight=', merge(1, 0, is_sidelights(win))
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, bytes, flag, ierror)
    call check(flag .and. bytes == window_bytes, 'MPI_Win_get_attr')
    memory => words_at(base)
    memory(1:2) = 0
    value = 1
    cell = 0
    call MPI_Win_fence(0, win, ierror)
    do k = 1, rounds
        call MPI_Accumulate(value, 1, MPI_INTEGER8, 0, cell, 1, MPI_INTEGER8, MPI_SUM, win, ierror)
    end do
    call MPI_Win_fence(0, win, ierror)
    call check(memory(1) == merge(rounds * ranks, 0, rank == 0), 'MPI_Accumulate')
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
    do k = 1, rounds
        call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierror)
        cell = 2 + rank
        call MPI_Put(value, 1, MPI_INTEGER8, 0, cell, 1, MPI_INTEGER8, win, ierror)
        call MPI_Win_flush(0, win, ierror)
        cell = 1
        call MPI_Fetch_and_op(value, old, MPI_INTEGER8, 0, cell, MPI_SUM, win, ierror)
        cell = 2 + rank
        call MPI_Get(got, 1, MPI_INTEGER8, 0, cell, 1, MPI_INTEGER8, win, ierror)
        call MPI_Win_unlock(0, win, ierror)
        call check(got == value, 'MPI_Get')
        call check(old >= k - 1 .and. old < rounds * ranks, 'MPI_Fetch_and_op')
    end do
    call MPI_Win_free(win, ierror)
    call check_end
end program profiled
