! SPDX-License-Identifier: BSD-3-Clause
! One-sided communication from Fortran, by the module mpi or, with -DMPIF_H, by mpif.h. Like every
! Fortran program it knows nothing of Sidelight; with the argument "sidelight" it demands that the
! memory of its windows is Sidelight's.
program fortran
#ifndef MPIF_H
    use mpi
#endif
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_null_ptr, c_ptr
    implicit none
#ifdef MPIF_H
    include 'mpif.h'
#endif

    integer, parameter :: words = 16, int64 = selected_int_kind(18)
    integer(MPI_ADDRESS_KIND), parameter :: word_bytes = 8
    integer :: rank, ranks, left, right, win, ierror, failures, total
    integer(MPI_ADDRESS_KIND) :: base
    integer(int64), pointer :: memory(:)
    logical :: under_sidelight
    character(len=32) :: argument

    failures = 0
    call get_command_argument(1, argument)
    under_sidelight = argument == 'sidelight'
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    right = mod(rank + 1, ranks)
    left = mod(rank + ranks - 1, ranks)

    call MPI_Win_allocate(words * word_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call check(ierror == MPI_SUCCESS, 'MPI_Win_allocate')
    memory => words_at(base)
    if (under_sidelight) call check(is_sidelights(base), 'the memory is Sidelight''s')
    call fences
    call reductions
    call locks
    call exposures
    call properties
    call errors
    call MPI_Win_free(win, ierror)
    call check(win == MPI_WIN_NULL, 'MPI_Win_free')
    call shared_memory

    call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call MPI_Finalize(ierror)
    if (total /= 0) stop 1
    if (rank == 0) print '(a)', 'ok'

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(len=*), intent(in) :: what
        if (holds) return
        failures = failures + 1
        print '(a, i0, 2a)', 'rank ', rank, ': not true: ', what
    end subroutine check

    function words_at(address) result(found)
        integer(MPI_ADDRESS_KIND), intent(in) :: address
        integer(int64), pointer :: found(:)
        type(c_ptr) :: pointer
        pointer = transfer(address, c_null_ptr)
        call c_f_pointer(pointer, found, [words])
    end function words_at

    ! Whether an address lies in a mapping of this process that bears the library's name.
    function is_sidelights(address) result(holds)
        integer(MPI_ADDRESS_KIND), intent(in) :: address
        logical :: holds
        integer(int64) :: first, last
        integer :: unit, status, dash, space
        character(len=512) :: line
        holds = .false.
        open (newunit=unit, file='/proc/self/maps', action='read', status='old')
        do
            read (unit, '(a)', iostat=status) line
            if (status /= 0) exit
            if (index(line, '/memfd:sidelight') == 0) cycle
            dash = index(line, '-')
            space = index(line, ' ')
            read (line(1:dash - 1), '(z16)') first
            read (line(dash + 1:space - 1), '(z16)') last
            holds = holds .or. (first <= address .and. address < last)
        end do
        close (unit)
    end function is_sidelights

    subroutine fences
        integer(int64) :: mine, found
        memory = 0
        mine = 100 + rank
        call MPI_Win_fence(0, win, ierror)
        call MPI_Put(mine, 1, MPI_INTEGER8, right, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER8, win, ierror)
        call MPI_Win_fence(0, win, ierror)
        call check(memory(1) == 100 + left, 'put and fence')
        found = -1
        call MPI_Get(found, 1, MPI_INTEGER8, right, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER8, win, ierror)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
        call check(found == mine, 'get and fence')
    end subroutine fences

    ! Types that only Fortran has, added up at rank 0.
    subroutine reductions
        integer :: numbers(2)
        double precision :: weight
        complex :: point
        logical :: flag
        memory = 0
        numbers = [rank, 1]
        weight = 0.5d0 * rank
        point = (1.0, -1.0)
        flag = rank == ranks - 1
        call MPI_Win_fence(0, win, ierror)
        call add(4)
        call MPI_Accumulate(numbers, 2, MPI_INTEGER, 0, 5_MPI_ADDRESS_KIND, 2, MPI_INTEGER, &
                            MPI_SUM, win, ierror)
        call MPI_Accumulate(weight, 1, MPI_DOUBLE_PRECISION, 0, 6_MPI_ADDRESS_KIND, 1, &
                            MPI_DOUBLE_PRECISION, MPI_SUM, win, ierror)
        call MPI_Accumulate(point, 1, MPI_COMPLEX, 0, 7_MPI_ADDRESS_KIND, 1, MPI_COMPLEX, MPI_SUM, &
                            win, ierror)
        call MPI_Accumulate(flag, 1, MPI_LOGICAL, 0, 8_MPI_ADDRESS_KIND, 1, MPI_LOGICAL, MPI_LOR, &
                            win, ierror)
        call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
        if (rank /= 0) return
        call check(memory(5) == ranks, 'MPI_INTEGER8')
        numbers = transfer(memory(6), numbers)
        call check(all(numbers == [ranks * (ranks - 1) / 2, ranks]), 'MPI_INTEGER')
        call check(transfer(memory(7), weight) == 0.25d0 * ranks * (ranks - 1), &
                   'MPI_DOUBLE_PRECISION')
        call check(transfer(memory(8), point) == cmplx(ranks, -ranks), 'MPI_COMPLEX')
        call check(transfer(memory(9), flag), 'MPI_LOGICAL')
    end subroutine reductions

    subroutine add(displacement)
        integer, intent(in) :: displacement
        integer(int64), save :: one = 1
        call MPI_Accumulate(one, 1, MPI_INTEGER8, 0, int(displacement, MPI_ADDRESS_KIND), 1, &
                            MPI_INTEGER8, MPI_SUM, win, ierror)
    end subroutine add

    subroutine locks
        integer, parameter :: rounds = 20
        integer(MPI_ADDRESS_KIND), parameter :: counter = 10, sum = 11
        integer(int64) :: next, old, one
        integer :: k, request
        memory = 0
        one = 1
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        do k = 1, rounds
            call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win, ierror)
            call MPI_Get(next, 1, MPI_INTEGER8, 0, counter, 1, MPI_INTEGER8, win, ierror)
            call MPI_Win_flush(0, win, ierror)
            next = next + 1
            call MPI_Put(next, 1, MPI_INTEGER8, 0, counter, 1, MPI_INTEGER8, win, ierror)
            call MPI_Win_unlock(0, win, ierror)
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierror) ! inside of the next epoch ranks wait for each other
        call MPI_Win_lock_all(0, win, ierror)
        call MPI_Fetch_and_op(one, old, MPI_INTEGER8, 0, sum, MPI_SUM, win, ierror)
        call MPI_Win_flush_all(win, ierror)
        call check(old >= 0 .and. old < ranks, 'MPI_Fetch_and_op')
        call MPI_Rput(one, 1, MPI_INTEGER8, right, 12_MPI_ADDRESS_KIND, 1, MPI_INTEGER8, win, &
                      request, ierror)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call MPI_Win_flush(right, win, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Win_sync(win, ierror)
        call check(memory(13) == 1, 'MPI_Rput')
        call MPI_Win_unlock_all(win, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        if (rank == 0) call check(memory(11) == rounds * ranks, 'exclusive locks')
        if (rank == 0) call check(memory(12) == ranks, 'sum')
    end subroutine locks

    subroutine exposures
        integer :: world, origins, targets
        integer(int64) :: mine
        mine = 700 + rank
        call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
        call MPI_Group_incl(world, 1, [left], origins, ierror)
        call MPI_Group_incl(world, 1, [right], targets, ierror)
        call MPI_Win_post(origins, 0, win, ierror)
        call MPI_Win_start(targets, 0, win, ierror)
        call MPI_Put(mine, 1, MPI_INTEGER8, right, 14_MPI_ADDRESS_KIND, 1, MPI_INTEGER8, win, ierror)
        call MPI_Win_complete(win, ierror)
        call MPI_Win_wait(win, ierror)
        call check(memory(15) == 700 + left, 'post, start, complete, wait')
        call MPI_Group_free(origins, ierror)
        call MPI_Group_free(targets, ierror)
        call MPI_Group_free(world, ierror)
    end subroutine exposures

    ! Attributes of the window, the program's own attribute, its name.
    subroutine properties
        integer(MPI_ADDRESS_KIND) :: found
        integer :: keyval, length
        logical :: flag
        character(len=MPI_MAX_OBJECT_NAME) :: name
        call MPI_Win_get_attr(win, MPI_WIN_BASE, found, flag, ierror)
        call check(flag .and. found == base, 'MPI_WIN_BASE')
        call MPI_Win_get_attr(win, MPI_WIN_SIZE, found, flag, ierror)
        call check(flag .and. found == words * word_bytes, 'MPI_WIN_SIZE')
        call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, found, flag, ierror)
        call check(flag .and. found == 8, 'MPI_WIN_DISP_UNIT')
        call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, found, flag, ierror)
        call check(flag .and. found == MPI_WIN_FLAVOR_ALLOCATE, 'MPI_WIN_CREATE_FLAVOR')
        call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyval, &
                                   0_MPI_ADDRESS_KIND, ierror)
        call MPI_Win_set_attr(win, keyval, 4711_MPI_ADDRESS_KIND, ierror)
        call MPI_Win_get_attr(win, keyval, found, flag, ierror)
        call check(flag .and. found == 4711, 'own attribute')
        call MPI_Win_delete_attr(win, keyval, ierror)
        call MPI_Win_free_keyval(keyval, ierror)
        call MPI_Win_set_name(win, 'fortran', ierror)
        call MPI_Win_get_name(win, name, length, ierror)
        call check(name(1:length) == 'fortran', 'MPI_Win_set_name')
    end subroutine properties

    subroutine errors
        integer(int64), save :: value = 1
        integer :: class
        if (.not. under_sidelight) return
        call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierror)
        call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierror)
        call MPI_Put(value, 1, MPI_INTEGER8, 0, int(words, MPI_ADDRESS_KIND), 1, MPI_INTEGER8, &
                     win, ierror)
        call MPI_Error_class(ierror, class, total)
        call check(class == MPI_ERR_RMA_RANGE, 'MPI_ERR_RMA_RANGE')
        call MPI_Win_unlock(0, win, ierror)
        call check(ierror == MPI_SUCCESS, 'after the error')
    end subroutine errors

    subroutine shared_memory
        integer :: shared, unit
        integer(MPI_ADDRESS_KIND) :: bytes
        integer(int64), pointer :: own(:), neighbours(:)
        call MPI_Win_allocate_shared(words * word_bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, &
                                     shared, ierror)
        if (under_sidelight) call check(is_sidelights(base), 'shared memory is Sidelight''s')
        own => words_at(base)
        call MPI_Win_fence(0, shared, ierror)
        own(1) = rank
        call MPI_Win_fence(0, shared, ierror)
        call MPI_Win_shared_query(shared, right, bytes, unit, base, ierror)
        call check(bytes == words * word_bytes .and. unit == 8, 'MPI_Win_shared_query')
        neighbours => words_at(base)
        call check(neighbours(1) == right, 'shared memory')
        call MPI_Win_fence(0, shared, ierror)
        call MPI_Win_free(shared, ierror)
    end subroutine shared_memory
end program fortran
