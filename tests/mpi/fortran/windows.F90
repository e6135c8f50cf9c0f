! SPDX-License-Identifier: BSD-3-Clause
#include "flavour.inc"
! Windows of every kind, and what they carry besides memory: attributes, hints, a name, a group, an
! error handler.
module callbacks
    USE_MPI
    implicit none
    INCLUDE_MPI
    private
    public :: note_error, note_deletion
    integer, public :: errors = 0, error_class, deletions = 0
    integer(MPI_ADDRESS_KIND), public :: deleted_value, deleted_state
    HANDLE(MPI_Win), public :: window_of_error
    logical, public :: may_ask

contains

    subroutine note_error(win, code)
        HANDLE(MPI_Win) :: win
        integer :: code, ierror
        errors = errors + 1
        window_of_error = win
        call MPI_Error_class(code, error_class, ierror)
    end subroutine note_error

    subroutine note_deletion(win, keyval, value, state, ierror)
        HANDLE(MPI_Win) :: win
        integer :: keyval, ierror
        integer(MPI_ADDRESS_KIND) :: value, state
        integer(MPI_ADDRESS_KIND) :: units
        logical :: flag
        ! The window still answers. Open MPI 4 does not tell which it is.
        ierror = MPI_SUCCESS
        flag = .true.
        if (may_ask) call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, units, flag, ierror)
        if (flag .and. keyval /= MPI_KEYVAL_INVALID) deletions = deletions + 1
        deleted_value = value
        deleted_state = state
    end subroutine note_deletion
end module callbacks

program windows
    USE_MPI
    use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr
    use checks
    use callbacks
    implicit none
    INCLUDE_MPI

    integer :: ierror
    call check_begin
    call allocated
    call by_c_pointer
    call shared
    call created
    call dynamic
    call own_attributes
    call name_and_hints
    call group
    call error_handler
    call check_end

contains

    integer(MPI_ADDRESS_KIND) function address_in(base)
        ADDRESS_OF_MEMORY, intent(in) :: base
        address_in = transfer(base, address_in)
    end function address_in

    ! A put to the right neighbour, with its proof.
    subroutine exercise(win, memory, what)
        HANDLE(MPI_Win), intent(in) :: win
        integer(word), intent(inout), asynchronous :: memory(:)
        character(len=*), intent(in) :: what
        integer(word), asynchronous :: mine
        memory = -1
        mine = 100 + rank
        call MPI_Win_fence(0, win, ierror)
        call MPI_Put(mine, 1, MPI_INTEGER8, right, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER8, win, ierror)
        call expect_success(ierror, what // ': MPI_Put')
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
        call expect_success(ierror, what // ': MPI_Win_fence')
        call check(memory(4) == 100 + left .and. count(memory /= -1) == 1, what // ': what was put')
    end subroutine exercise

    subroutine expect_attribute(win, key, expected, what)
        HANDLE(MPI_Win), intent(in) :: win
        integer, intent(in) :: key
        integer(MPI_ADDRESS_KIND), intent(in) :: expected
        character(len=*), intent(in) :: what
        integer(MPI_ADDRESS_KIND) :: found
        logical :: flag
        call MPI_Win_get_attr(win, key, found, flag, ierror)
        call check(ierror == MPI_SUCCESS .and. flag .and. found == expected, what)
#ifdef MODULE_MPI_F08
        found = 0
        call MPI_Win_get_attr(win, key, found, flag)
        call check(flag .and. found == expected, what // ', without ierror')
        found = 0
        call PMPI_Win_get_attr(win, key, found, flag)
        call check(flag .and. found == expected, what // ', by PMPI')
#endif
    end subroutine expect_attribute

    subroutine expect_attributes(win, base, bytes, flavor, what)
        HANDLE(MPI_Win), intent(in) :: win
        integer(MPI_ADDRESS_KIND), intent(in) :: base, bytes
        integer, intent(in) :: flavor
        character(len=*), intent(in) :: what
        call expect_attribute(win, MPI_WIN_BASE, base, what // ': MPI_WIN_BASE')
        call expect_attribute(win, MPI_WIN_SIZE, bytes, what // ': MPI_WIN_SIZE')
        call expect_attribute(win, MPI_WIN_CREATE_FLAVOR, int(flavor, MPI_ADDRESS_KIND), &
                              what // ': MPI_WIN_CREATE_FLAVOR')
        call expect_attribute(win, MPI_WIN_MODEL, int(MPI_WIN_UNIFIED, MPI_ADDRESS_KIND), &
                              what // ': MPI_WIN_MODEL')
        if (flavor /= MPI_WIN_FLAVOR_DYNAMIC) &
            call expect_attribute(win, MPI_WIN_DISP_UNIT, word_bytes, what // ': MPI_WIN_DISP_UNIT')
    end subroutine expect_attributes

    subroutine allocated
        HANDLE(MPI_Win) :: win
        ADDRESS_OF_MEMORY :: base
        call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
        call expect_window(ierror, win, 'MPI_Win_allocate')
        call expect_attributes(win, address_in(base), window_bytes, MPI_WIN_FLAVOR_ALLOCATE, &
                               'MPI_Win_allocate')
        call exercise(win, words_at(base), 'MPI_Win_allocate')
        call MPI_Win_free(win, ierror)
        call expect_success(ierror, 'MPI_Win_free')
        call check(win == MPI_WIN_NULL, 'MPI_Win_free takes the handle')
    end subroutine allocated

    ! Since MPI-3 the module mpi takes a pointer of C as well.
    subroutine by_c_pointer
#ifdef MODULE_MPI
        type(c_ptr) :: base
        integer :: win, unit
        integer(MPI_ADDRESS_KIND) :: bytes
        integer(word), pointer :: memory(:)
        call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
        call expect_window(ierror, win, 'MPI_Win_allocate by c_ptr')
        call exercise(win, words_at(base), 'MPI_Win_allocate by c_ptr')
        call MPI_Win_free(win, ierror)
        call MPI_Win_allocate_shared(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, &
                                     ierror)
        call expect_success(ierror, 'MPI_Win_allocate_shared by c_ptr')
        memory => words_at(base)
        memory(1) = 5
        call MPI_Win_shared_query(win, rank, bytes, unit, base, ierror)
        memory => words_at(base)
        call check(memory(1) == 5, 'MPI_Win_shared_query by c_ptr')
        call MPI_Win_free(win, ierror)
#endif
    end subroutine by_c_pointer

    subroutine shared
        HANDLE(MPI_Win) :: win
        ADDRESS_OF_MEMORY :: base, found
        integer(MPI_ADDRESS_KIND) :: bytes
        integer :: unit
        integer(word), pointer :: memory(:)
        call MPI_Win_allocate_shared(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, &
                                     ierror)
        call expect_window(ierror, win, 'MPI_Win_allocate_shared')
        call expect_attributes(win, address_in(base), window_bytes, MPI_WIN_FLAVOR_SHARED, &
                               'MPI_Win_allocate_shared')
        call exercise(win, words_at(base), 'MPI_Win_allocate_shared')
        call MPI_Win_lock_all(MPI_MODE_NOCHECK, win, ierror)
        memory => words_at(base)
        memory(1) = 700 + rank
        call MPI_Win_sync(win, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Win_sync(win, ierror)
        call MPI_Win_shared_query(win, right, bytes, unit, found, ierror)
        call expect_success(ierror, 'MPI_Win_shared_query')
        call check(bytes == window_bytes .and. unit == word_bytes, 'MPI_Win_shared_query: the size')
        memory => words_at(found)
        call check(memory(1) == 700 + right, 'MPI_Win_shared_query: the memory')
        call MPI_Win_shared_query(win, MPI_PROC_NULL, bytes, unit, found, ierror)
        memory => words_at(found)
        call check(memory(1) == 700, 'MPI_Win_shared_query of MPI_PROC_NULL')
        call MPI_Win_unlock_all(win, ierror)
        call MPI_Win_free(win, ierror)
    end subroutine shared

    subroutine created
        HANDLE(MPI_Win) :: win
        integer(word), asynchronous, save :: static(words)
        integer(word), allocatable, asynchronous :: fresh(:)
        call MPI_Win_create(static, window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
        call expect_window(ierror, win, 'MPI_Win_create')
        call expect_attributes(win, address_of(static), window_bytes, MPI_WIN_FLAVOR_CREATE, &
                               'MPI_Win_create')
        call exercise(win, static, 'MPI_Win_create')
        call MPI_Win_free(win, ierror)
        allocate (fresh(words))
        call MPI_Win_create(fresh, window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
        call expect_window(ierror, win, 'MPI_Win_create, allocatable')
        call exercise(win, fresh, 'MPI_Win_create, allocatable')
        call MPI_Win_free(win, ierror)
        call by_alloc_mem
    end subroutine created

    subroutine by_alloc_mem
        HANDLE(MPI_Win) :: win
        ADDRESS_OF_MEMORY :: base
        integer(word), pointer :: memory(:)
        call MPI_Alloc_mem(window_bytes, MPI_INFO_NULL, base, ierror)
        memory => words_at(base)
        call MPI_Win_create(memory, window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
        call expect_window(ierror, win, 'MPI_Win_create, MPI_Alloc_mem')
        call exercise(win, memory, 'MPI_Win_create, MPI_Alloc_mem')
        call MPI_Win_free(win, ierror)
        call MPI_Free_mem(memory, ierror)
    end subroutine by_alloc_mem

    function address_of(memory) result(address)
        integer(word), asynchronous, intent(in) :: memory(*)
        integer(MPI_ADDRESS_KIND) :: address
        call MPI_Get_address(memory, address, ierror)
    end function address_of

    subroutine dynamic
        HANDLE(MPI_Win) :: win
        integer(word), asynchronous, save :: memory(words)
        integer(word), asynchronous :: mine
        integer(MPI_ADDRESS_KIND), allocatable :: places(:)
        allocate (places(0:ranks - 1))
        call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
        call expect_window(ierror, win, 'MPI_Win_create_dynamic')
        call expect_attributes(win, 0_MPI_ADDRESS_KIND, 0_MPI_ADDRESS_KIND, &
                               MPI_WIN_FLAVOR_DYNAMIC, 'MPI_Win_create_dynamic')
        call MPI_Win_attach(win, memory, window_bytes, ierror)
        call expect_success(ierror, 'MPI_Win_attach')
        memory = -1
        mine = 300 + rank
        places(rank) = address_of(memory) + 2 * word_bytes
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, places, 1, MPI_AINT, &
                           MPI_COMM_WORLD, ierror)
        call MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win, ierror)
        call MPI_Put(mine, 1, MPI_INTEGER8, right, places(right), 1, MPI_INTEGER8, win, ierror)
        call MPI_Win_unlock(right, win, ierror)
        call expect_success(ierror, 'MPI_Win_create_dynamic: MPI_Win_unlock')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call check(memory(3) == 300 + left .and. count(memory /= -1) == 1, 'attached memory')
        call MPI_Win_detach(win, memory, ierror)
        call expect_success(ierror, 'MPI_Win_detach')
        call MPI_Win_free(win, ierror)
    end subroutine dynamic

    subroutine own_attributes
        HANDLE(MPI_Win) :: win
        ADDRESS_OF_MEMORY :: base
        integer(MPI_ADDRESS_KIND) :: found
        integer :: keyval
        logical :: flag
        call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
        may_ask = .not. host_is_open_mpi()
        call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_deletion, keyval, &
                                   1234_MPI_ADDRESS_KIND, ierror)
        call expect_success(ierror, 'MPI_Win_create_keyval')
        call MPI_Win_get_attr(win, keyval, found, flag, ierror)
        call check(.not. flag, 'no attribute yet')
        ! Wider than a default integer.
        call MPI_Win_set_attr(win, keyval, ishft(4711_MPI_ADDRESS_KIND, 33), ierror)
        call expect_attribute(win, keyval, ishft(4711_MPI_ADDRESS_KIND, 33), 'own attribute')
        call MPI_Win_set_attr(win, keyval, -2_MPI_ADDRESS_KIND, ierror)
        call check(deletions == 1 .and. deleted_value == ishft(4711_MPI_ADDRESS_KIND, 33), &
                   'deletion by another value')
        call MPI_Win_delete_attr(win, keyval, ierror)
        call check(deletions == 2 .and. deleted_value == -2, 'MPI_Win_delete_attr')
        call MPI_Win_set_attr(win, keyval, 5_MPI_ADDRESS_KIND, ierror)
        call MPI_Win_free(win, ierror)
        call check(deletions == 3 .and. deleted_value == 5 .and. deleted_state == 1234, &
                   'deletion by MPI_Win_free')
        call MPI_Win_free_keyval(keyval, ierror)
        call check(keyval == MPI_KEYVAL_INVALID, 'MPI_Win_free_keyval')
    end subroutine own_attributes

    subroutine name_and_hints
        HANDLE(MPI_Win) :: win
        HANDLE(MPI_Info) :: info
        ADDRESS_OF_MEMORY :: base
        character(len=MPI_MAX_OBJECT_NAME) :: name
        character(len=16) :: value
        integer :: length
        logical :: flag
        call MPI_Info_create(info, ierror)
        call MPI_Info_set(info, 'no_locks', 'true', ierror)
        call MPI_Win_allocate(window_bytes, 8, info, MPI_COMM_WORLD, base, win, ierror)
        call MPI_Info_free(info, ierror)
        call MPI_Win_get_info(win, info, ierror)
        call MPI_Info_get(info, 'no_locks', len(value), value, flag, ierror)
        call check(flag .and. value == 'true', 'MPI_Win_get_info')
        call MPI_Info_set(info, 'accumulate_ordering', 'none', ierror)
        call MPI_Win_set_info(win, info, ierror)
        call expect_success(ierror, 'MPI_Win_set_info')
        call MPI_Info_free(info, ierror)
        call MPI_Win_set_name(win, 'by Fortran  ', ierror)
        call MPI_Win_get_name(win, name, length, ierror)
        call check(length == 10, 'MPI_Win_get_name: the length')
        call check(name == 'by Fortran' .or. get_name_is_broken(), 'MPI_Win_get_name')
        call MPI_Win_free(win, ierror)
    end subroutine name_and_hints

    ! With mpi_f08, Open MPI 4 gives one letter and rubbish.
    logical function get_name_is_broken()
        get_name_is_broken = .false.
#ifdef MODULE_MPI_F08
        get_name_is_broken = host_is_open_mpi()
#endif
    end function get_name_is_broken

    subroutine group
        HANDLE(MPI_Win) :: win
        HANDLE(MPI_Group) :: of_window, of_world
        integer(word), asynchronous, save :: memory(words)
        integer :: relation
        call MPI_Win_create(memory, window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
        call MPI_Win_get_group(win, of_window, ierror)
        call expect_success(ierror, 'MPI_Win_get_group')
        call MPI_Comm_group(MPI_COMM_WORLD, of_world, ierror)
        call MPI_Group_compare(of_window, of_world, relation, ierror)
        call check(relation == MPI_IDENT, 'MPI_Win_get_group: the members')
        call MPI_Group_free(of_window, ierror)
        call MPI_Group_free(of_world, ierror)
        call MPI_Win_free(win, ierror)
    end subroutine group

    subroutine error_handler
        HANDLE(MPI_Win) :: win
        HANDLE(MPI_Errhandler) :: noting, found
        ADDRESS_OF_MEMORY :: base
        integer(word), asynchronous :: value
        integer :: class
        value = 1
        call MPI_Win_allocate(window_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
        call MPI_Win_get_errhandler(win, found, ierror)
        call check(found == MPI_ERRORS_ARE_FATAL, 'the first error handler')
        call MPI_Win_create_errhandler(note_error, noting, ierror)
        call expect_success(ierror, 'MPI_Win_create_errhandler')
        call MPI_Win_set_errhandler(win, noting, ierror)
        call MPI_Win_call_errhandler(win, MPI_ERR_OTHER, ierror)
        call check(errors == 1 .and. error_class == MPI_ERR_OTHER .and. window_of_error == win, &
                   'MPI_Win_call_errhandler')
        if (under_sidelight) then
            call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierror)
            call MPI_Put(value, 1, MPI_INTEGER8, 0, int(words, MPI_ADDRESS_KIND), 1, MPI_INTEGER8, &
                         win, ierror)
            call check(errors == 2 .and. error_class == MPI_ERR_RMA_RANGE .and. &
                       window_of_error == win, 'the error handler is called')
            call MPI_Error_class(ierror, class, errors)
            call check(class == MPI_ERR_RMA_RANGE, 'MPI_ERR_RMA_RANGE')
            call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierror)
            call MPI_Win_unlock(ranks, win, ierror)
            call MPI_Error_class(ierror, class, errors)
            call check(class == MPI_ERR_RANK, 'MPI_ERRORS_RETURN')
            call MPI_Win_unlock(0, win, ierror)
            call expect_success(ierror, 'after the errors, MPI_Win_unlock')
        end if
        call MPI_Errhandler_free(noting, ierror)
        call MPI_Win_free(win, ierror)
    end subroutine error_handler
end program windows
