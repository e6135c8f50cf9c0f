! SPDX-License-Identifier: BSD-3-Clause
#include "flavour.inc"
! Handlers of active messages in Fortran.
module handlers
    USE_MPI
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_int64_t, c_ptr
    implicit none
    INCLUDE_MPI
    private
    public :: add_up, count_nulls, negative, ten_times

contains

    ! Each segment is one word. Its answer is ten times that, and the first word of the target's
    ! memory; the second word there counts segments. Wrong datatypes are answered by -1.
    subroutine ten_times(input, input_count, input_type, own, own_count, own_type, output, &
                         output_count, output_type, segments, offset) bind(C)
        type(c_ptr), value :: input, own, output
        integer(c_int) :: input_count, own_count, output_count, segments, offset
        HANDLE(MPI_Datatype) :: input_type, own_type, output_type
        integer(c_int64_t), pointer :: asked(:), memory(:), answers(:)
        integer :: segment
        call c_f_pointer(input, asked, [input_count * segments])
        call c_f_pointer(own, memory, [own_count])
        call c_f_pointer(output, answers, [output_count * segments])
        do segment = 1, segments
            answers(segment) = 10 * asked(segment) + memory(1)
            memory(2) = memory(2) + 1
            if (memory(2) < offset + segment) answers(segment) = -2
        end do
        if (.not. all_words(input_type, own_type, output_type)) answers = -1
    end subroutine ten_times

    logical function all_words(first, second, third)
        HANDLE(MPI_Datatype), intent(in) :: first, second, third
#ifdef MODULE_MPI_F08
        all_words = first%MPI_VAL == MPI_INTEGER8%MPI_VAL .and. second%MPI_VAL == first%MPI_VAL &
            .and. third%MPI_VAL == first%MPI_VAL
#else
        all_words = first == MPI_INTEGER8 .and. second == first .and. third == first
#endif
    end function all_words

    ! The answer is the number of types that are none.
    subroutine count_nulls(input, input_count, input_type, own, own_count, own_type, output, &
                           output_count, output_type, segments, offset) bind(C)
        type(c_ptr), value :: input, own, output
        integer(c_int) :: input_count, own_count, output_count, segments, offset
        HANDLE(MPI_Datatype) :: input_type, own_type, output_type
        integer(c_int64_t), pointer :: answers(:)
        call c_f_pointer(output, answers, [output_count * segments])
        answers = 0
        if (is_null(input_type)) answers = answers + 1
        if (is_null(own_type)) answers = answers + 1
        if (is_null(output_type)) answers = answers + 1
    end subroutine count_nulls

    logical function is_null(datatype)
        HANDLE(MPI_Datatype), intent(in) :: datatype
#ifdef MODULE_MPI_F08
        is_null = datatype%MPI_VAL == MPI_DATATYPE_NULL%MPI_VAL
#else
        is_null = datatype == MPI_DATATYPE_NULL
#endif
    end function is_null

    ! A segment is many words, of which the answer is the sum.
    subroutine add_up(input, input_count, input_type, own, own_count, own_type, output, &
                      output_count, output_type, segments, offset) bind(C)
        type(c_ptr), value :: input, own, output
        integer(c_int) :: input_count, own_count, output_count, segments, offset
        HANDLE(MPI_Datatype) :: input_type, own_type, output_type
        integer(c_int64_t), pointer :: asked(:, :), answers(:, :)
        call c_f_pointer(input, asked, [input_count, segments])
        call c_f_pointer(output, answers, [output_count, segments])
        answers(1, :) = sum(asked, 1)
    end subroutine add_up

    ! With large counts: each answer is minus what was asked, or -1 where a count is wrong.
    subroutine negative(input, input_count, input_type, own, own_count, own_type, output, &
                        output_count, output_type, segments, offset) bind(C)
        type(c_ptr), value :: input, own, output
        integer(c_int64_t) :: input_count, own_count, output_count, segments, offset
        HANDLE(MPI_Datatype) :: input_type, own_type, output_type
        integer(c_int64_t), pointer :: asked(:), answers(:)
        call c_f_pointer(input, asked, [input_count * segments])
        call c_f_pointer(output, answers, [output_count * segments])
        answers = -asked
        if (own_count /= 2 .or. segments /= 3 .or. offset /= 0) answers = -1
        if (.not. all_words(input_type, own_type, output_type)) answers = -1
    end subroutine negative

end module handlers

#ifdef MPIF_H
! As it is written where nobody has heard of C: all arguments by reference.
subroutine plain_negative(input, input_count, input_type, own, own_count, own_type, output, &
                          output_count, output_type, segments, offset)
    implicit none
    integer :: input_count, input_type, own_count, own_type, output_count, output_type
    integer :: segments, offset
    integer(8) :: input(input_count, segments), own(own_count), output(output_count, segments)
    output(1, :) = -input(1, :)
end subroutine plain_negative
#endif

program active
    USE_MPI
#ifdef MODULE_MPI_F08
    use sidelight_am_f08
    use sidelight_notify_f08
#endif
#ifdef MODULE_MPI
    use sidelight_am_mpi
    use sidelight_notify_mpi
#endif
    use checks
    use handlers
    implicit none
    INCLUDE_MPI

    integer, parameter :: many = 2000 ! words of a segment that no internal buffer holds
    integer(MPI_ADDRESS_KIND), parameter :: start = 0, room = 3 * many * word_bytes
#ifdef MPIF_H
    integer, parameter :: MPIX_MODE_CONCURRENT_AM = 536870912
    external :: plain_negative
#endif
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Op) :: op, sums, other
    HANDLE(MPI_Request) :: request
    ADDRESS_OF_MEMORY :: base
    integer(word), pointer, asynchronous :: memory(:)
    integer(word), asynchronous :: asked(3), answers(3), long(many), buffer(3 * many)
    integer :: ierror, class

    call check_begin
    call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call expect_window(ierror, win, 'MPI_Win_allocate')
    memory => words_at(base)
    memory = 0
    memory(1) = 1 + rank
    call MPIX_Am_op_create(ten_times, op, ierror)
    call expect_success(ierror, 'MPIX_Am_op_create')
    call MPIX_Am_win_op_register(op, win, ierror)
    call expect_success(ierror, 'MPIX_Am_win_op_register')
    call MPIX_Am_op_create(add_up, sums, ierror)
    call MPIX_Am_win_op_register(sums, win, ierror)
    call expect_success(ierror, 'MPIX_Am_win_op_register, the second time')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call three_segments
    call with_a_request
    call notified
    call handler_of_large_counts
#ifdef MODULE_MPI_F08
    call large_counts_and_no_ierror
#endif
#ifdef MPIF_H
    call plain_handler
#endif
    call concurrent_and_in_a_buffer
    call derived_types
    call wrong_signature
    call MPI_Op_free(op, ierror)
    call expect_success(ierror, 'MPI_Op_free')
    call MPI_Op_free(sums, ierror)
    call MPI_Win_free(win, ierror)
    call expect_success(ierror, 'MPI_Win_free')
    call check_end

contains

    subroutine ask(first)
        integer(word), intent(in) :: first
        asked = [first, first + 1, first + 2]
        answers = 0
    end subroutine ask

    subroutine check_answers(what)
        character(len=*), intent(in) :: what
        call check(all(answers == 10 * asked + 1 + right), what)
    end subroutine check_answers

    subroutine three_segments
        call ask(100_word)
        call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierror)
        call MPIX_Am(asked, 1, MPI_INTEGER8, answers, 1, MPI_INTEGER8, 3, right, MPI_INTEGER8, &
                     start, 2, MPI_INTEGER8, MPI_INTEGER8, op, win, ierror)
        call expect_success(ierror, 'MPIX_Am')
        call MPI_Win_unlock(right, win, ierror)
        call check_answers('MPIX_Am')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierror)
        call check(memory(2) == 3, 'what the handler of another has left here')
        call MPI_Win_unlock(rank, win, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine three_segments

    subroutine with_a_request
        call ask(200_word)
        call MPI_Win_lock_all(0, win, ierror)
        call MPIX_Ram(asked, 1, MPI_INTEGER8, answers, 1, MPI_INTEGER8, 3, right, MPI_INTEGER8, &
                      start, 2, MPI_INTEGER8, MPI_INTEGER8, op, win, request, ierror)
        call expect_success(ierror, 'MPIX_Ram')
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call expect_success(ierror, 'the request of an active message')
        call check_answers('MPIX_Ram')
        call MPI_Win_unlock_all(win, ierror)
    end subroutine with_a_request

    subroutine check_counter(counter, expected)
        integer, intent(in) :: counter, expected
        integer(MPI_COUNT_KIND) :: value
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Win_get_notify_value(win, counter, value, ierror)
        call check(value == expected, 'the counter of a notified active message')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine check_counter

    subroutine notified
        call MPI_Win_set_num_notify(win, MPI_INFO_NULL, 2, ierror)
        call expect_success(ierror, 'MPI_Win_set_num_notify')
        call ask(250_word)
        call MPI_Win_lock_all(0, win, ierror)
        call MPIX_Am_notify(asked, 1, MPI_INTEGER8, answers, 1, MPI_INTEGER8, 3, right, &
                            MPI_INTEGER8, start, 2, MPI_INTEGER8, MPI_INTEGER8, op, 0, win, ierror)
        call expect_success(ierror, 'MPIX_Am_notify')
        call MPI_Win_flush(right, win, ierror)
        call check_answers('MPIX_Am_notify')
        call check_counter(0, 1)
        call ask(270_word)
        call MPIX_Ram_notify(asked, 1, MPI_INTEGER8, answers, 1, MPI_INTEGER8, 3, right, &
                             MPI_INTEGER8, start, 2, MPI_INTEGER8, MPI_INTEGER8, op, 1, win, &
                             request, ierror)
        call expect_success(ierror, 'MPIX_Ram_notify')
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call expect_success(ierror, 'the request of a notified active message')
        call check_answers('MPIX_Ram_notify')
        call MPI_Win_flush(right, win, ierror)
        call check_counter(1, 1)
        call MPI_Win_unlock_all(win, ierror)
    end subroutine notified

    subroutine handler_of_large_counts
        call MPIX_Am_op_create_c(negative, other, ierror)
        call expect_success(ierror, 'MPIX_Am_op_create_c')
        call MPIX_Am_win_op_register(other, win, ierror)
        call ask(290_word)
        call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierror)
        call MPIX_Am(asked, 1, MPI_INTEGER8, answers, 1, MPI_INTEGER8, 3, right, MPI_INTEGER8, &
                     start, 2, MPI_INTEGER8, MPI_INTEGER8, other, win, ierror)
        call MPI_Win_unlock(right, win, ierror)
        call check(all(answers == -asked), 'a handler that takes large counts')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Op_free(other, ierror)
    end subroutine handler_of_large_counts

#ifdef MODULE_MPI_F08
    subroutine large_counts_and_no_ierror
        integer(MPI_COUNT_KIND), parameter :: one = 1, two = 2, three = 3
        call ask(300_word)
        call MPI_Win_lock_all(0, win)
        call MPIX_Am(asked, one, MPI_INTEGER8, answers, one, MPI_INTEGER8, three, right, &
                     MPI_INTEGER8, start, two, MPI_INTEGER8, MPI_INTEGER8, op, win)
        call MPI_Win_flush(right, win)
        call check_answers('MPIX_Am with large counts')
        call ask(400_word)
        call MPIX_Ram(asked, one, MPI_INTEGER8, answers, one, MPI_INTEGER8, three, right, &
                      MPI_INTEGER8, start, two, MPI_INTEGER8, MPI_INTEGER8, op, win, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check_answers('MPIX_Ram with large counts')
        call ask(430_word)
        call MPIX_Am_notify(asked, one, MPI_INTEGER8, answers, one, MPI_INTEGER8, three, right, &
                            MPI_INTEGER8, start, two, MPI_INTEGER8, MPI_INTEGER8, op, 0, win)
        call MPI_Win_flush(right, win)
        call check_answers('MPIX_Am_notify with large counts')
        call check_counter(0, 2)
        call ask(460_word)
        call MPIX_Ram_notify(asked, one, MPI_INTEGER8, answers, one, MPI_INTEGER8, three, right, &
                             MPI_INTEGER8, start, two, MPI_INTEGER8, MPI_INTEGER8, op, 1, win, &
                             request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        call check_answers('MPIX_Ram_notify with large counts')
        call MPI_Win_flush(right, win)
        call check_counter(1, 2)
        call MPI_Win_unlock_all(win)
    end subroutine large_counts_and_no_ierror
#endif

#ifdef MPIF_H
    subroutine plain_handler
        call MPIX_Am_op_create(plain_negative, other, ierror)
        call MPIX_Am_win_op_register(other, win, ierror)
        call ask(500_word)
        call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierror)
        call MPIX_Am(asked, 1, MPI_INTEGER8, answers, 1, MPI_INTEGER8, 3, right, MPI_INTEGER8, &
                     start, 1, MPI_INTEGER8, MPI_INTEGER8, other, win, ierror)
        call MPI_Win_unlock(right, win, ierror)
        call check(all(answers == -asked), 'a handler that is not BIND(C)')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Op_free(other, ierror)
    end subroutine plain_handler
#endif

    ! The segment fits into the attached buffer alone.
    subroutine concurrent_and_in_a_buffer
        integer :: i
        call MPIX_Am_win_buffer_attach(buffer, room, win, ierror)
        call expect_success(ierror, 'MPIX_Am_win_buffer_attach')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        long = [(int(i, word), i = 1, many)]
        answers = 0
        call MPI_Win_lock(MPI_LOCK_SHARED, right, MPIX_MODE_CONCURRENT_AM, win, ierror)
        call expect_success(ierror, 'MPI_Win_lock with MPIX_MODE_CONCURRENT_AM')
        call MPIX_Am(long, many, MPI_INTEGER8, answers, 1, MPI_INTEGER8, 1, right, MPI_INTEGER8, &
                     start, 1, MPI_INTEGER8, MPI_INTEGER8, sums, win, ierror)
        call expect_success(ierror, 'MPIX_Am with a large segment')
        call MPI_Win_unlock(right, win, ierror)
        call expect_success(ierror, 'MPI_Win_unlock')
        call check(answers(1) == many * (many + 1) / 2, 'the sum of a large segment')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPIX_Am_win_buffer_detach(win, ierror)
        call expect_success(ierror, 'MPIX_Am_win_buffer_detach')
    end subroutine concurrent_and_in_a_buffer

    ! Handlers hear of derived types that they are none.
    subroutine derived_types
        HANDLE(MPI_Datatype) :: pair
        call MPI_Type_contiguous(2, MPI_INTEGER8, pair, ierror)
        call MPI_Type_commit(pair, ierror)
        call MPIX_Am_op_create(count_nulls, other, ierror)
        call MPIX_Am_win_op_register(other, win, ierror)
        answers = -1
        call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierror)
        call MPIX_Am(asked, 2, MPI_INTEGER8, answers, 1, MPI_INTEGER8, 1, right, pair, start, 1, &
                     pair, MPI_INTEGER8, other, win, ierror)
        call expect_success(ierror, 'MPIX_Am with derived types')
        call MPI_Win_unlock(right, win, ierror)
        call check(answers(1) == 2, 'two types that are none')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Op_free(other, ierror)
        call MPI_Type_free(pair, ierror)
    end subroutine derived_types

    ! Three words are no whole number of pairs of them.
    subroutine wrong_signature
        HANDLE(MPI_Datatype) :: pair
        call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierror)
        call MPI_Type_contiguous(2, MPI_INTEGER8, pair, ierror)
        call MPI_Type_commit(pair, ierror)
        call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierror)
        call MPIX_Am(asked, 3, MPI_INTEGER8, answers, 1, MPI_INTEGER8, 1, right, pair, start, 2, &
                     MPI_INTEGER8, MPI_INTEGER8, op, win, ierror)
        call check(ierror /= MPI_SUCCESS, 'a signature that does not divide')
        call MPI_Error_class(ierror, class, ierror)
        call check(class == MPI_ERR_TYPE, 'its class')
        call MPI_Win_unlock(right, win, ierror)
        call MPI_Type_free(pair, ierror)
    end subroutine wrong_signature

end program active
