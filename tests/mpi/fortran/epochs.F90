! SPDX-License-Identifier: BSD-3-Clause
#include "flavour.inc"
! The calls that only Sidelight has. The modules let ierror be left out; mpif.h needs no module.
program epochs
    USE_MPI
#ifdef MODULE_MPI_F08
    use sidelight_f08
#endif
#ifdef MODULE_MPI
    use sidelight_mpi
#endif
#ifdef MPIF_H
    use sidelight_mpi, only: MPIX_MAX_MEMHANDLE_SIZE, MPIX_PROGRESS_AUTO, MPIX_PROGRESS_SMART
#endif
    use checks
    implicit none
    INCLUDE_MPI

    integer, parameter :: many = 40
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Group) :: world, origins, targets
    ADDRESS_OF_MEMORY :: base
    integer(word), pointer, asynchronous :: memory(:)
    integer :: ierror

    call check_begin
    call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call expect_window(ierror, win, 'MPI_Win_allocate')
    memory => words_at(base)
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    call MPI_Group_incl(world, 1, [left], origins, ierror)
    call MPI_Group_incl(world, 1, [right], targets, ierror)
    call fences
    call exposures
    call late_target
    call locks
    call locks_of_all
    call requests_of_operations
#ifdef MODULE_MPI_F08
    call large_counts
#endif
    call intrinsic
    call progress
    call about_the_library
    call dump
    call duplicates
    call memory_handles
    call errors
    call MPI_Group_free(origins, ierror)
    call MPI_Group_free(targets, ierror)
    call MPI_Group_free(world, ierror)
    call MPI_Win_free(win, ierror)
    call check_end

contains

    ! The request of an opening call.
    subroutine expect_complete(request, what)
        HANDLE(MPI_Request), intent(inout) :: request
        character(len=*), intent(in) :: what
        logical :: done
        call MPI_Test(request, done, MPI_STATUS_IGNORE, ierror)
        call check(done .and. request == MPI_REQUEST_NULL, what // ' is complete at once')
    end subroutine expect_complete

    subroutine wait_for(request, what)
        HANDLE(MPI_Request), intent(inout) :: request
        character(len=*), intent(in) :: what
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call expect_success(ierror, what)
    end subroutine wait_for

    integer(MPI_ADDRESS_KIND) function at(cell)
        integer, intent(in) :: cell
        at = cell - 1
    end function at

    subroutine put(value, target, cell)
        integer(word), intent(in), asynchronous :: value
        integer, intent(in) :: target, cell
        call MPI_Put(value, 1, MPI_INTEGER8, target, at(cell), 1, MPI_INTEGER8, win, ierror)
        call expect_success(ierror, 'MPI_Put')
    end subroutine put

    subroutine fences
        HANDLE(MPI_Request) :: opened, closed
        integer(word), asynchronous :: mine
        memory = 0
        mine = 100 + rank
        call MPIX_Win_ifence(0, win, opened, ierror)
        call expect_success(ierror, 'MPIX_Win_ifence')
        call put(mine, right, 1)
        call MPIX_Win_ifence(MPI_MODE_NOSUCCEED, win, closed, ierror)
        call wait_for(closed, 'MPIX_Win_ifence')
        call wait_for(opened, 'MPIX_Win_ifence')
        call check(memory(1) == 100 + left, 'MPIX_Win_ifence')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine fences

    subroutine exposures
        HANDLE(MPI_Request) :: posted, started, both(2)
        integer(word), asynchronous :: mine
        mine = 200 + rank
        call MPIX_Win_ipost(origins, 0, win, posted, ierror)
        call expect_complete(posted, 'MPIX_Win_ipost')
        call MPIX_Win_istart(targets, 0, win, started, ierror)
        call expect_complete(started, 'MPIX_Win_istart')
        call put(mine, right, 2)
        call MPIX_Win_icomplete(win, both(1), ierror)
        call expect_success(ierror, 'MPIX_Win_icomplete')
        call MPIX_Win_iwait(win, both(2), ierror)
        call expect_success(ierror, 'MPIX_Win_iwait')
        call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, ierror)
        call check(memory(2) == 200 + left, 'MPIX_Win_iwait')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine exposures

    ! Rank 0 closes its access long before rank 1 opens the exposure.
    subroutine late_target
        HANDLE(MPI_Group) :: other
        HANDLE(MPI_Request) :: closed
        integer(word), asynchronous :: mine
        logical :: done
        mine = 300
        if (rank == 0) then
            call MPI_Group_incl(world, 1, [1], other, ierror)
            call MPI_Win_start(other, 0, win, ierror)
            call put(mine, 1, 3)
            call MPIX_Win_icomplete(win, closed, ierror)
            call MPI_Test(closed, done, MPI_STATUS_IGNORE, ierror)
            call check(.not. done, 'an access without an exposure is pending')
        end if
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        if (rank == 0) call wait_for(closed, 'MPIX_Win_icomplete')
        if (rank == 1) then
            call MPI_Group_incl(world, 1, [0], other, ierror)
            call MPI_Win_post(other, 0, win, ierror)
            call MPIX_Win_iwait(win, closed, ierror)
            call wait_for(closed, 'MPIX_Win_iwait')
            call check(memory(3) == 300, 'a late target')
        end if
        if (rank <= 1) call MPI_Group_free(other, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine late_target

    ! Many transactions at rank 0, none waiting for the one before.
    subroutine locks
        HANDLE(MPI_Request) :: opened, closed(many), flushed
        integer(word), asynchronous, save :: one = 1
        integer(word), asynchronous :: found
        integer :: k
        do k = 1, many
            call MPIX_Win_ilock(MPI_LOCK_EXCLUSIVE, 0, 0, win, opened, ierror)
            call expect_complete(opened, 'MPIX_Win_ilock')
            call MPI_Accumulate(one, 1, MPI_INTEGER8, 0, at(4), 1, MPI_INTEGER8, MPI_SUM, win, &
                                ierror)
            call MPIX_Win_iunlock(0, win, closed(k), ierror)
        end do
        call MPI_Waitall(many, closed, MPI_STATUSES_IGNORE, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPIX_Win_ilock(MPI_LOCK_SHARED, 0, 0, win, opened, ierror)
        call expect_complete(opened, 'MPIX_Win_ilock')
        call MPI_Get(found, 1, MPI_INTEGER8, 0, at(4), 1, MPI_INTEGER8, win, ierror)
        call MPIX_Win_iflush(0, win, flushed, ierror)
        call wait_for(flushed, 'MPIX_Win_iflush')
        call check(found == many * ranks, 'MPIX_Win_iunlock')
        call MPI_Win_unlock(0, win, ierror)
    end subroutine locks

    subroutine locks_of_all
        HANDLE(MPI_Request) :: opened, closed, flushed(3)
        integer(word), asynchronous :: mine, found
        mine = 500 + rank
#ifdef MPIF_H
        call MPIX_Win_ilock_all(0, win, opened, ierror)
#else
        call MPIX_Win_ilock_all(0, win, opened)
#endif
        call expect_complete(opened, 'MPIX_Win_ilock_all')
        call put(mine, right, 5)
        call MPIX_Win_iflush_all(win, flushed(1), ierror)
        call MPIX_Win_iflush_local(right, win, flushed(2), ierror)
        call MPIX_Win_iflush_local_all(win, flushed(3), ierror)
        call MPI_Waitall(3, flushed, MPI_STATUSES_IGNORE, ierror)
        call expect_success(ierror, 'flushes')
        call MPI_Get(found, 1, MPI_INTEGER8, right, at(5), 1, MPI_INTEGER8, win, ierror)
#ifdef MPIF_H
        call MPIX_Win_iunlock_all(win, closed, ierror)
#else
        call MPIX_Win_iunlock_all(win, closed)
#endif
        call wait_for(closed, 'MPIX_Win_iunlock_all')
        call check(found == mine, 'MPIX_Win_iunlock_all')
    end subroutine locks_of_all

    ! Their requests wait for the target. Addresses are absolute where MPI_BOTTOM is the buffer.
    subroutine requests_of_operations
        HANDLE(MPI_Request) :: requests(4)
        HANDLE(MPI_Datatype) :: absolute
        integer(word), asynchronous :: mine(2), one, old
        integer(MPI_ADDRESS_KIND) :: address
        integer(MPI_ADDRESS_KIND), parameter :: cell_6 = 5, cell_7 = 6, cell_8 = 7, cell_9 = 8
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        memory(6:9) = 0
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        mine = [600 + rank, 700 + rank]
        one = 1
        old = -1
        call MPI_Get_address(mine(2), address, ierror)
        call MPI_Type_create_hindexed(1, [1], [address], MPI_INTEGER8, absolute, ierror)
        call MPI_Type_commit(absolute, ierror)
        call MPI_Win_lock_all(0, win, ierror)
        call MPIX_Rrput(mine, 1, MPI_INTEGER8, right, cell_6, 1, MPI_INTEGER8, win, requests(1), &
                        ierror)
        call expect_success(ierror, 'MPIX_Rrput')
        call MPIX_Rrput(MPI_BOTTOM, 1, absolute, right, cell_7, 1, MPI_INTEGER8, win, &
                        requests(2), ierror)
        call expect_success(ierror, 'MPIX_Rrput of MPI_BOTTOM')
        call MPIX_Rraccumulate(one, 1, MPI_INTEGER8, right, cell_8, 1, MPI_INTEGER8, MPI_SUM, &
                               win, requests(3), ierror)
        call expect_success(ierror, 'MPIX_Rraccumulate')
        call MPIX_Rrget_accumulate(one, 1, MPI_INTEGER8, old, 1, MPI_INTEGER8, right, cell_9, 1, &
                                   MPI_INTEGER8, MPI_SUM, win, requests(4), ierror)
        call expect_success(ierror, 'MPIX_Rrget_accumulate')
        call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
        call expect_success(ierror, 'requests that wait for the target')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Win_sync(win, ierror)
        call check(all(memory(6:9) == [600 + left, 700 + left, 1, 1]), 'at the target')
        call check(old == 0, 'MPIX_Rrget_accumulate')
        call MPI_Win_unlock_all(win, ierror)
        call MPI_Type_free(absolute, ierror)
    end subroutine requests_of_operations

#ifdef MODULE_MPI_F08
    subroutine large_counts
        type(MPI_Request) :: requests(3)
        integer(word), asynchronous :: mine, old
        integer(MPI_COUNT_KIND), parameter :: n = 1
        integer(MPI_ADDRESS_KIND), parameter :: cell_6 = 5, cell_7 = 6, cell_8 = 7
        memory(6:8) = 0
        call MPI_Barrier(MPI_COMM_WORLD)
        mine = 800 + rank
        old = -1
        call MPI_Win_lock_all(0, win)
        call MPIX_Rrput(mine, n, MPI_INTEGER8, right, cell_6, n, MPI_INTEGER8, win, requests(1))
        call MPIX_Rraccumulate(mine, n, MPI_INTEGER8, right, cell_7, n, MPI_INTEGER8, MPI_SUM, &
                               win, requests(2))
        call MPIX_Rrget_accumulate(mine, n, MPI_INTEGER8, old, n, MPI_INTEGER8, right, cell_8, n, &
                                   MPI_INTEGER8, MPI_SUM, win, requests(3))
        call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Win_sync(win)
        call check(all(memory(6:8) == 800 + left) .and. old == 0, 'large counts')
        call MPI_Win_unlock_all(win)
    end subroutine large_counts
#endif

    subroutine intrinsic
        integer(MPI_ADDRESS_KIND), parameter :: many_elements = 100
        logical :: adds, both
        call MPIX_Win_op_intrinsic('sum', many_elements, MPI_INTEGER8, win, adds, ierror)
        call expect_success(ierror, 'MPIX_Win_op_intrinsic')
        call MPIX_Win_op_intrinsic('sum,cas  ', many_elements, MPI_INTEGER8, win, both, ierror)
        call expect_success(ierror, 'MPIX_Win_op_intrinsic of two')
        call check(adds .eqv. both, 'MPIX_Win_op_intrinsic')
    end subroutine intrinsic

    subroutine progress
        integer :: mode
        integer(word) :: calls, messages, futile, delay, before(3)
        call MPIX_Progress_set(MPIX_PROGRESS_SMART, ierror)
        call expect_success(ierror, 'MPIX_Progress_set')
        call MPIX_Progress_get(mode, ierror)
        call expect_success(ierror, 'MPIX_Progress_get')
        call check(mode == MPIX_PROGRESS_SMART, 'the mode that was set')
        calls = -1
        messages = -1
        futile = -1
        do ! until the thread has not counted between their being read
            before = [calls, messages, futile]
            call MPIX_Progress_counts(calls, messages, futile, delay, ierror)
            call expect_success(ierror, 'MPIX_Progress_counts')
            if (all(before == [calls, messages, futile])) exit
        end do
        call check(min(calls, messages, delay) >= 0 .and. futile <= calls + messages, 'counts')
        call MPIX_Progress_set(MPIX_PROGRESS_AUTO, ierror)
        call expect_success(ierror, 'MPIX_Progress_set back')
    end subroutine progress

    subroutine about_the_library
#ifdef MPIF_H
        integer, external :: sidelight_active
#endif
        call check(sidelight_active() == 1, 'sidelight_active')
    end subroutine about_the_library

    ! To a file, by its descriptor, which gfortran tells. The unit does not know what was written.
    subroutine dump
        character(len=256) :: line
        integer :: file, written, state
        open(newunit=file, status='scratch')
        call sidelight_dump(fnum(file))
        write(line, '(a, i0)') '/proc/self/fd/', fnum(file)
        open(newunit=written, file=line, status='old', action='read')
        read(written, '(a)', iostat=state) line
        call check(state == 0 .and. index(line, ' window ') /= 0, 'sidelight_dump')
        close(written)
        close(file)
    end subroutine dump

    ! Another handle of the window, with a key of its own, takes part in the epochs of the first.
    subroutine duplicates
        HANDLE(MPI_Win) :: handle
        HANDLE(MPI_Info) :: info
        integer(word) :: number
        integer(MPI_ADDRESS_KIND) :: bytes
        character(len=19) :: ordering
        logical :: found
        number = 900 + rank
        call MPI_Info_create(info, ierror)
        call MPI_Info_set(info, 'accumulate_ordering', 'none', ierror)
        call MPIX_Win_dup_with_info(win, info, handle, ierror)
        call expect_success(ierror, 'MPIX_Win_dup_with_info')
        call check(handle /= win, 'a handle of its own')
        call MPI_Info_free(info, ierror)
        call MPI_Win_get_info(handle, info, ierror)
        call MPI_Info_get(info, 'accumulate_ordering', len(ordering), ordering, found, ierror)
        call check(found .and. ordering == 'none', 'a key of its own')
        call MPI_Info_free(info, ierror)
        call MPI_Win_get_attr(handle, MPI_WIN_SIZE, bytes, found, ierror)
        call check(found .and. bytes == window_bytes, 'the size of the window')
        call MPI_Win_fence(0, handle, ierror)
        call MPI_Put(number, 1, MPI_INTEGER8, right, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER8, win, &
            ierror)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, handle, ierror)
        call check(memory(1) == 900 + left, 'what came through both handles')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Win_free(handle, ierror)
        call expect_success(ierror, 'MPI_Win_free of a duplicate')
    end subroutine duplicates

    ! A handle of this rank's words goes to the left as bytes; what is put by the right one's comes there.
    subroutine memory_handles
        HANDLE(MPI_Win) :: parent, handle
        STATUS(status)
        integer(word), save, asynchronous :: words(4)
        integer(word), asynchronous :: number
        integer(MPI_ADDRESS_KIND) :: bytes
        character(len=MPIX_MAX_MEMHANDLE_SIZE) :: mine, theirs
        logical :: found
        integer :: length, class
        words = 0
        number = 1000 + rank
        call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, parent, ierror)
        call MPIX_Memhandle_create(words, 32_MPI_ADDRESS_KIND, MPI_INFO_NULL, parent, mine, length, &
            ierror)
        call expect_success(ierror, 'MPIX_Memhandle_create')
        call check(length > 0 .and. length <= len(mine), 'the length of a handle')
        call MPI_Sendrecv(mine, length, MPI_BYTE, left, 4, theirs, len(theirs), MPI_BYTE, right, 4, &
            MPI_COMM_WORLD, status, ierror)
        call MPIX_Win_from_memhandle(theirs, 32_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, right, parent, &
            handle, ierror)
        call expect_success(ierror, 'MPIX_Win_from_memhandle')
        call MPI_Win_get_attr(handle, MPI_WIN_SIZE, bytes, found, ierror)
        call check(found .and. bytes == 32, 'the size of a window of a handle')
        call MPI_Win_lock_all(0, parent, ierror)
        call MPI_Put(number, 1, MPI_INTEGER8, right, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER8, handle, &
            ierror)
        call expect_success(ierror, 'MPI_Put through a window of a handle')
        call MPI_Win_flush(right, handle, ierror)
        call MPI_Win_unlock_all(parent, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call check(words(3) == 1000 + left, 'what came through the window of a handle')
        call MPI_Win_free(handle, ierror)
        call expect_success(ierror, 'MPI_Win_free of the window of a handle')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPIX_Memhandle_release(mine, parent, ierror)
        call expect_success(ierror, 'MPIX_Memhandle_release')
        call MPI_Win_set_errhandler(parent, MPI_ERRORS_RETURN, ierror)
        call MPIX_Memhandle_release(mine, parent, ierror)
        call MPI_Error_class(ierror, class, ierror)
        call check(class == MPI_ERR_ARG, 'MPIX_Memhandle_release of a spoilt handle')
        call MPI_Win_free(parent, ierror)
    end subroutine memory_handles

    ! An error is an answer, and leaves the request alone. With the modules that is INTENT(OUT): what
    ! it was before the call is gone.
    subroutine errors
        HANDLE(MPI_Request) :: request
        integer :: class
        call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierror)
        request = MPI_REQUEST_NULL
        call MPIX_Win_iunlock(0, win, request, ierror)
        call MPI_Error_class(ierror, class, ierror)
        call check(class == MPI_ERR_RMA_SYNC, 'MPIX_Win_iunlock without a lock')
#ifdef MPIF_H
        call check(request == MPI_REQUEST_NULL, 'the request is not set on error')
#endif
        call MPIX_Win_iflush(ranks, win, request, ierror)
        call check(ierror /= MPI_SUCCESS, 'MPIX_Win_iflush of no rank')
    end subroutine errors
end program epochs
