// SPDX-License-Identifier: BSD-3-Clause
#include <new>

#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "runtime/attribute_keys.hpp"

/// The program's attributes live on the handle, where the host keeps them. These calls are watched,
/// so that a duplicate can have them, too.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::table;

SIDELIGHT_OWN int own_Win_create_keyval(MPI_Win_copy_attr_function* copy,
                                        MPI_Win_delete_attr_function* remove, int* keyval,
                                        void* extra_state)
{
    const int code = table().Win_create_keyval(copy, remove, keyval, extra_state);
    if (code != MPI_SUCCESS) {
        return code;
    }
    try {
        attribute_keys::learn(*keyval, copy, extra_state);
    } catch (const std::bad_alloc&) {
        table().Win_free_keyval(keyval);
        return host::mpi::answer(Status::no_memory);
    }
    return MPI_SUCCESS;
}

/// MPICH's own, by which its bindings of Fortran and C++ say how the functions of a key are called
/// that they have just made: not as those of C are, so that only the host can do it.
SIDELIGHT_OWN void own_MPII_Keyval_set_proxy(int keyval, void* copy_proxy, void* delete_proxy)
{
    using SetProxy = void(int keyval, void* copy_proxy, void* delete_proxy);
    attribute_keys::forget(keyval);
    if (void* of_host = host::mpi::find_anywhere("MPII_Keyval_set_proxy"); of_host != nullptr) {
        reinterpret_cast<SetProxy*>(of_host)(keyval, copy_proxy, delete_proxy);
    }
}

/// Before the host may give its number to another key.
SIDELIGHT_OWN int own_Win_free_keyval(int* keyval)
{
    if (keyval != nullptr) {
        attribute_keys::retire(*keyval);
    }
    return table().Win_free_keyval(keyval);
}

SIDELIGHT_OWN int own_Win_set_attr(MPI_Win win, int keyval, void* value)
{
    if (WindowObject* object = window_table::find(win); object != nullptr) {
        try {
            attribute_keys::note_set(*object, keyval);
        } catch (const std::bad_alloc&) {
            return host::mpi::answer_window(Status::no_memory, win);
        }
    }
    return table().Win_set_attr(win, keyval, value);
}

SIDELIGHT_OWN int own_Win_delete_attr(MPI_Win win, int keyval)
{
    const int code = table().Win_delete_attr(win, keyval);
    WindowObject* object = window_table::find(win);
    if (code == MPI_SUCCESS && object != nullptr) {
        attribute_keys::note_deleted(*object, keyval);
    }
    return code;
}
