! SPDX-License-Identifier: BSD-3-Clause
! Sidelight: generalized active messages, for programs that use mpi_f08. What the calls promise:
! include/sidelight_am.h. Compiled with the program, as sidelight_f08.f90; as there, buffers have to
! lie in one block until the operation is complete.
module sidelight_am_f08
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_intptr_t, c_ptr
    use mpi_f08, only: MPI_Datatype, MPI_Op, MPI_Request, MPI_Win
    implicit none
    private :: c_int, c_int64_t, c_intptr_t, c_ptr, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win

    ! An assertion for epochs; the value is that of sidelight_am.h.
    integer, parameter :: MPIX_MODE_CONCURRENT_AM = int(z'20000000')

    abstract interface

        ! A handler: its buffers are addresses, to be taken by c_f_pointer.
        subroutine MPIX_Am_user_function(input_addr, input_segment_count, &
            input_segment_datatype, persistent_addr, persistent_count, persistent_datatype, &
            output_addr, output_segment_count, output_segment_datatype, num_segments, &
            segment_offset) bind(C)
            import :: c_int, c_ptr, MPI_Datatype
            type(c_ptr), value :: input_addr, persistent_addr, output_addr
            integer(c_int) :: input_segment_count, persistent_count, output_segment_count
            type(MPI_Datatype) :: input_segment_datatype, persistent_datatype, &
                output_segment_datatype
            integer(c_int) :: num_segments, segment_offset
        end subroutine MPIX_Am_user_function

        ! The same with large counts, for MPIX_Am_op_create_c.
        subroutine MPIX_Am_user_function_c(input_addr, input_segment_count, &
            input_segment_datatype, persistent_addr, persistent_count, persistent_datatype, &
            output_addr, output_segment_count, output_segment_datatype, num_segments, &
            segment_offset) bind(C)
            import :: c_int, c_int64_t, c_ptr, MPI_Datatype
            type(c_ptr), value :: input_addr, persistent_addr, output_addr
            integer(c_int64_t) :: input_segment_count, persistent_count, output_segment_count
            type(MPI_Datatype) :: input_segment_datatype, persistent_datatype, &
                output_segment_datatype
            integer(c_int64_t) :: num_segments, segment_offset
        end subroutine MPIX_Am_user_function_c

    end interface

    interface

        subroutine MPIX_Am_op_create(function, am_op, ierror) bind(C, name='mpix_am_op_create_')
            import :: c_int, MPIX_Am_user_function, MPI_Op
            procedure(MPIX_Am_user_function) :: function
            type(MPI_Op), intent(out) :: am_op
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_op_create

        subroutine MPIX_Am_op_create_c(function, am_op, ierror) &
            bind(C, name='mpix_am_op_create_c_')
            import :: c_int, MPIX_Am_user_function_c, MPI_Op
            procedure(MPIX_Am_user_function_c) :: function
            type(MPI_Op), intent(out) :: am_op
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_op_create_c

        subroutine MPIX_Am_win_op_register(am_op, win, ierror) &
            bind(C, name='mpix_am_win_op_register_')
            import :: c_int, MPI_Op, MPI_Win
            type(MPI_Op), intent(in) :: am_op
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_win_op_register

        subroutine MPIX_Am_win_buffer_attach(buffer, size, win, ierror) &
            bind(C, name='mpix_am_win_buffer_attach_')
            import :: c_int, c_intptr_t, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
            !DIR$ IGNORE_TKR buffer
            type(*), asynchronous :: buffer
            integer(c_intptr_t), intent(in) :: size
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_win_buffer_attach

        subroutine MPIX_Am_win_buffer_detach(win, ierror) &
            bind(C, name='mpix_am_win_buffer_detach_')
            import :: c_int, MPI_Win
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_win_buffer_detach

    end interface

    interface MPIX_Am

        subroutine MPIX_Am_int(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, win, ierror) &
            bind(C, name='mpix_am_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Op, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank
            type(MPI_Datatype), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            type(MPI_Op), intent(in) :: am_op
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_int

        subroutine MPIX_Am_large(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, win, ierror) &
            bind(C, name='mpix_am_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Op, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int64_t), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank
            type(MPI_Datatype), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            type(MPI_Op), intent(in) :: am_op
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_large

    end interface MPIX_Am

    interface MPIX_Ram

        subroutine MPIX_Ram_int(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, win, request, &
            ierror) bind(C, name='mpix_ram_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Op, MPI_Win, MPI_Request
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank
            type(MPI_Datatype), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            type(MPI_Op), intent(in) :: am_op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Ram_int

        subroutine MPIX_Ram_large(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, win, request, &
            ierror) bind(C, name='mpix_ram_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Op, MPI_Win, MPI_Request
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int64_t), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank
            type(MPI_Datatype), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            type(MPI_Op), intent(in) :: am_op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Ram_large

    end interface MPIX_Ram

    interface MPIX_Am_notify

        subroutine MPIX_Am_notify_int(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, &
            notification_idx, win, ierror) bind(C, name='mpix_am_notify_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Op, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            type(MPI_Op), intent(in) :: am_op
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_notify_int

        subroutine MPIX_Am_notify_large(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, &
            notification_idx, win, ierror) bind(C, name='mpix_am_notify_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Op, MPI_Win
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int64_t), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            type(MPI_Op), intent(in) :: am_op
            type(MPI_Win), intent(in) :: win
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Am_notify_large

    end interface MPIX_Am_notify

    interface MPIX_Ram_notify

        subroutine MPIX_Ram_notify_int(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, &
            notification_idx, win, request, ierror) bind(C, name='mpix_ram_notify_')
            import :: c_int, c_intptr_t, MPI_Datatype, MPI_Op, MPI_Win, MPI_Request
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            type(MPI_Op), intent(in) :: am_op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Ram_notify_int

        subroutine MPIX_Ram_notify_large(origin_input_addr, origin_input_segment_count, &
            origin_input_segment_datatype, origin_output_addr, origin_output_segment_count, &
            origin_output_segment_datatype, num_segments, target_rank, &
            target_input_segment_datatype, target_persistent_disp, target_persistent_count, &
            target_persistent_datatype, target_output_segment_datatype, am_op, &
            notification_idx, win, request, ierror) bind(C, name='mpix_ram_notify_c_')
            import :: c_int, c_intptr_t, c_int64_t, MPI_Datatype, MPI_Op, MPI_Win, MPI_Request
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_input_addr
            !DIR$ IGNORE_TKR origin_input_addr
            !GCC$ ATTRIBUTES NO_ARG_CHECK :: origin_output_addr
            !DIR$ IGNORE_TKR origin_output_addr
            type(*), intent(in), asynchronous :: origin_input_addr
            type(*), asynchronous :: origin_output_addr
            integer(c_int64_t), intent(in) :: origin_input_segment_count, &
                origin_output_segment_count, num_segments, target_persistent_count
            integer(c_int), intent(in) :: target_rank, notification_idx
            type(MPI_Datatype), intent(in) :: origin_input_segment_datatype, &
                origin_output_segment_datatype, target_input_segment_datatype, &
                target_persistent_datatype, target_output_segment_datatype
            integer(c_intptr_t), intent(in) :: target_persistent_disp
            type(MPI_Op), intent(in) :: am_op
            type(MPI_Win), intent(in) :: win
            type(MPI_Request), intent(out) :: request
            integer(c_int), optional, intent(out) :: ierror
        end subroutine MPIX_Ram_notify_large

    end interface MPIX_Ram_notify

end module sidelight_am_f08
