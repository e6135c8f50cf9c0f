! SPDX-License-Identifier: BSD-3-Clause
! Sidelight: generalized active messages, for programs that use the module mpi or mpif.h. As
! sidelight_am_f08.f90, with integers for handles. A program may also call these subroutines without
! any module; then ierror may not be left out, and MPIX_MODE_CONCURRENT_AM is 536870912.
module sidelight_am_mpi
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_intptr_t, c_ptr
    implicit none
    private :: c_int, c_int64_t, c_intptr_t, c_ptr

    ! An assertion for epochs; the value is that of sidelight_am.h.
    integer, parameter :: MPIX_MODE_CONCURRENT_AM = int(z'20000000')

    abstract interface

        ! A handler: its buffers are addresses, to be taken by c_f_pointer.
        subroutine MPIX_Am_user_function(input_addr, input_segment_count, &
            input_segment_datatype, persistent_addr, persistent_count, persistent_datatype, &
            output_addr, output_segment_count, output_segment_datatype, num_segments, &
            segment_offset) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: input_addr, persistent_addr, output_addr
            integer(c_int) :: input_segment_count, persistent_count, output_segment_count
            integer(c_int) :: input_segment_datatype, persistent_datatype, &
                output_segment_datatype
            integer(c_int) :: num_segments, segment_offset
        end subroutine MPIX_Am_user_function

        ! The same with large counts, for MPIX_Am_op_create_c.
        subroutine MPIX_Am_user_function_c(input_addr, input_segment_count, &
            input_segment_datatype, persistent_addr, persistent_count, persistent_datatype, &
            output_addr, output_segment_count, output_segment_datatype, num_segments, &
            segment_offset) bind(C)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: input_addr, persistent_addr, output_addr
            integer(c_int64_t) :: input_segment_count, persistent_count, output_segment_count
            integer(c_int) :: input_segment_datatype, persistent_datatype, &
                output_segment_datatype
            integer(c_int64_t) :: num_segments, segment_offset
        end subroutine MPIX_Am_user_function_c

    end interface

    interface

        subroutine MPIX_Am_op_create(function, am_op, ierror) bind(C, name='mpix_am_op_create_')
            import :: c_int, MPIX_Am_user_function
            procedure(MPIX_Am_user_function) :: function
            integer(c_int), intent(out) :: am_op
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_op_create

        subroutine MPIX_Am_op_create_c(function, am_op, ierror) &
            bind(C, name='mpix_am_op_create_c_')
            import :: c_int, MPIX_Am_user_function_c
            procedure(MPIX_Am_user_function_c) :: function
            integer(c_int), intent(out) :: am_op
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_op_create_c

        subroutine MPIX_Am_win_op_register(am_op, win, ierror) &
            bind(C, name='mpix_am_win_op_register_')
            import :: c_int
            integer(c_int), intent(in) :: am_op
            integer(c_int), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_win_op_register

        subroutine MPIX_Am_win_buffer_attach(buffer, size, win, ierror) &
            bind(C, name='mpix_am_win_buffer_attach_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
            !DIR$ IGNORE_TKR buffer
            type(*), asynchronous :: buffer
            integer(c_intptr_t), intent(in) :: size
            integer(c_int), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_win_buffer_attach

        subroutine MPIX_Am_win_buffer_detach(win, ierror) &
            bind(C, name='mpix_am_win_buffer_detach_')
            import :: c_int
            integer(c_int), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_win_buffer_detach

        subroutine MPIX_Am(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, win, ierror) &
            bind(C, name='mpix_am_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank
            integer(c_int), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            integer(c_int), intent(in) :: am_op
            integer(c_int), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am

        subroutine MPIX_Ram(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, win, request, &
            ierror) bind(C, name='mpix_ram_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank
            integer(c_int), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            integer(c_int), intent(in) :: am_op
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Ram

        subroutine MPIX_Am_notify(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, &
            notification_idx, win, ierror) bind(C, name='mpix_am_notify_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            integer(c_int), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            integer(c_int), intent(in) :: am_op
            integer(c_int), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_notify

        subroutine MPIX_Ram_notify(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, &
            notification_idx, win, request, ierror) bind(C, name='mpix_ram_notify_')
            import :: c_int, c_intptr_t
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            integer(c_int), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            integer(c_int), intent(in) :: am_op
            integer(c_int), intent(in) :: win
            integer(c_int), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Ram_notify

    end interface

end module sidelight_am_mpi
