! SPDX-License-Identifier: BSD-3-Clause
#include "flavour.inc"
! Notified operations and their counters (MPI-5.1, 12.6).
program notified
    USE_MPI
#ifdef MODULE_MPI_F08
    use sidelight_notify_f08
#endif
#ifdef MODULE_MPI
    use sidelight_notify_mpi
#endif
#ifdef MPIF_H
    use sidelight_notify_mpi, only: MPI_WIN_NOTIFICATION_NUM_SB, MPI_WIN_NOTIFICATION_NUM_UB, &
        MPI_WIN_NOTIFICATION_VALUE_UB
#endif
    use checks
    implicit none
    INCLUDE_MPI

    integer(MPI_ADDRESS_KIND), parameter :: first = 0, second = 1, third = 2, fourth = 3
    integer(MPI_COUNT_KIND), parameter :: once = 1, twice = 2
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Request) :: request, requests(4)
    ADDRESS_OF_MEMORY :: base
    integer(word), pointer, asynchronous :: memory(:)
    integer(word), asynchronous :: mine, one, got, old, fetched(2)
    integer(MPI_COUNT_KIND) :: value
    integer :: ierror, number

    call check_begin
    call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call expect_window(ierror, win, 'MPI_Win_allocate')
    memory => words_at(base)
    memory = 0
    call MPI_Win_set_num_notify(win, MPI_INFO_NULL, 3, ierror)
    call expect_success(ierror, 'MPI_Win_set_num_notify')
    call MPI_Win_get_num_notify(win, right, number, ierror)
    call expect_success(ierror, 'MPI_Win_get_num_notify')
    call check(number == 3, 'MPI_Win_get_num_notify')
    call MPI_Win_lock_all(0, win, ierror)
    call operations_without_requests
    call operations_with_requests
#ifdef MODULE_MPI_F08
    call large_counts_and_other_names
#endif
    call bounds
    call wrong_counter
    call MPI_Win_unlock_all(win, ierror)
    call MPI_Win_free(win, ierror)
    call check_end

contains

    subroutine await(counter, expected)
        integer, intent(in) :: counter
        integer(MPI_COUNT_KIND), intent(in) :: expected
        call MPIX_Win_notify_ithreshold(win, counter, expected, request, ierror)
        call expect_success(ierror, 'MPIX_Win_notify_ithreshold')
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call expect_success(ierror, 'the request of a threshold')
        call MPI_Win_get_notify_value(win, counter, value, ierror)
        call expect_success(ierror, 'MPI_Win_get_notify_value')
        call check(value == expected, 'MPI_Win_get_notify_value')
    end subroutine await

    subroutine operations_without_requests
        mine = 100 + rank
        one = 1
        got = -1
        old = -1
        call MPI_Put_notify(mine, 1, MPI_INTEGER8, right, first, 1, MPI_INTEGER8, 0, win, ierror)
        call expect_success(ierror, 'MPI_Put_notify')
        call await(0, once)
        call check(memory(1) == 100 + left, 'MPI_Put_notify')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Accumulate_notify(one, 1, MPI_INTEGER8, right, first, 1, MPI_INTEGER8, MPI_SUM, &
                                   0, win, ierror)
        call expect_success(ierror, 'MPI_Accumulate_notify')
        call await(0, twice)
        call check(memory(1) == 101 + left, 'MPI_Accumulate_notify')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Get_accumulate_notify(one, 1, MPI_INTEGER8, old, 1, MPI_INTEGER8, right, first, 1, &
                                       MPI_INTEGER8, MPI_SUM, 1, win, ierror)
        call expect_success(ierror, 'MPI_Get_accumulate_notify')
        call await(1, once)
        call MPI_Get_notify(got, 1, MPI_INTEGER8, right, first, 1, MPI_INTEGER8, 2, win, ierror)
        call expect_success(ierror, 'MPI_Get_notify')
        call await(2, once)
        call MPI_Win_flush(right, win, ierror)
        call check(old == 101 + rank .and. got == 102 + rank, 'what came back')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Win_reset_notify_value(win, 0, value, ierror)
        call expect_success(ierror, 'MPI_Win_reset_notify_value')
        call check(value == 2, 'MPI_Win_reset_notify_value')
        call MPI_Win_reset_notify_value(win, 1, value, ierror)
        call MPI_Win_reset_notify_value(win, 2, value, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine operations_without_requests

    subroutine operations_with_requests
        integer(MPI_COUNT_KIND), parameter :: four = 4
        fetched = -1
        call MPI_Rput_notify(mine, 1, MPI_INTEGER8, right, second, 1, MPI_INTEGER8, 1, win, &
                             requests(1), ierror)
        call expect_success(ierror, 'MPI_Rput_notify')
        call MPI_Raccumulate_notify(mine, 1, MPI_INTEGER8, right, third, 1, MPI_INTEGER8, MPI_SUM, &
                                    1, win, requests(2), ierror)
        call expect_success(ierror, 'MPI_Raccumulate_notify')
        call MPI_Rget_accumulate_notify(mine, 1, MPI_INTEGER8, fetched(1), 1, MPI_INTEGER8, right, &
                                        fourth, 1, MPI_INTEGER8, MPI_SUM, 1, win, requests(3), &
                                        ierror)
        call expect_success(ierror, 'MPI_Rget_accumulate_notify')
        call MPI_Rget_notify(fetched(2), 1, MPI_INTEGER8, right, first, 1, MPI_INTEGER8, 1, win, &
                             requests(4), ierror)
        call expect_success(ierror, 'MPI_Rget_notify')
        call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
        call expect_success(ierror, 'requests of notified operations')
        call check(fetched(1) == 0 .and. fetched(2) == 102 + rank, 'what requests brought')
        call await(1, four)
        call check(all(memory(2:4) == 100 + left), 'at the target')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine operations_with_requests

#ifdef MODULE_MPI_F08
    ! No ierror.
    subroutine large_counts_and_other_names
        integer(MPI_COUNT_KIND), parameter :: n = 1
        mine = 500 + rank
        call MPI_Put_notify(mine, n, MPI_INTEGER8, right, first, n, MPI_INTEGER8, 2, win)
        call MPIX_Put_notify(mine, 1, MPI_INTEGER8, right, second, 1, MPI_INTEGER8, 2, win)
        call MPIX_Rput_notify(mine, n, MPI_INTEGER8, right, third, n, MPI_INTEGER8, 2, win, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call await(2, 3_MPI_COUNT_KIND)
        call check(all(memory(1:3) == 500 + left), 'large counts and other names')
        call MPI_Barrier(MPI_COMM_WORLD)
        memory(1:8) = 0
        call MPI_Barrier(MPI_COMM_WORLD)
        fetched = -1
        call MPI_Accumulate_notify(mine, n, MPI_INTEGER8, right, first, n, MPI_INTEGER8, MPI_SUM, &
                                   2, win)
        call MPI_Raccumulate_notify(mine, n, MPI_INTEGER8, right, second, n, MPI_INTEGER8, &
                                    MPI_SUM, 2, win, requests(1))
        call MPI_Get_accumulate_notify(mine, n, MPI_INTEGER8, old, n, MPI_INTEGER8, right, third, &
                                       n, MPI_INTEGER8, MPI_SUM, 2, win)
        call MPI_Rget_accumulate_notify(mine, n, MPI_INTEGER8, fetched(1), n, MPI_INTEGER8, right, &
                                        fourth, n, MPI_INTEGER8, MPI_SUM, 2, win, requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call await(2, 7_MPI_COUNT_KIND)
        call check(all(memory(1:4) == 500 + left), 'reductions with large counts')
        call MPI_Win_flush(right, win)
        call check(old == 0 .and. fetched(1) == 0, 'what they fetched')
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_Get_notify(got, n, MPI_INTEGER8, right, first, n, MPI_INTEGER8, 2, win)
        call MPI_Rget_notify(fetched(2), n, MPI_INTEGER8, right, second, n, MPI_INTEGER8, 2, win, &
                             request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call MPI_Win_flush(right, win)
        call await(2, 9_MPI_COUNT_KIND)
        call check(got == mine .and. fetched(2) == mine, 'gets with large counts')
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine large_counts_and_other_names
#endif

    subroutine bounds
        integer(MPI_ADDRESS_KIND) :: soft, most, highest
        logical :: found(3)
        call MPI_Win_get_attr(win, MPI_WIN_NOTIFICATION_NUM_SB, soft, found(1), ierror)
        call MPI_Win_get_attr(win, MPI_WIN_NOTIFICATION_NUM_UB, most, found(2), ierror)
        call MPI_Win_get_attr(win, MPI_WIN_NOTIFICATION_VALUE_UB, highest, found(3), ierror)
        call check(all(found) .and. soft >= 3 .and. most >= soft .and. highest >= most, 'bounds')
    end subroutine bounds

    subroutine wrong_counter
#ifdef MPIF_H
        integer, external :: MPIX_Err_rma_notification
#endif
        integer :: class
        call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierror)
        call MPI_Win_get_notify_value(win, 3, value, number)
        call MPI_Error_class(number, class, ierror)
        call check(class == MPIX_Err_rma_notification(), 'a counter that is not there')
    end subroutine wrong_counter

end program notified
