// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/status.hpp"
#include "runtime/window_object.hpp"

/// What a duplicate needs to know of the program's attributes, which live on the handle: the copy
/// callback of each key, and which keys a handle has a value for. Keys that the bindings of Fortran
/// and C++ make are not known, nor are values that Fortran's set: those go straight into the host,
/// or have callbacks that only the host can call. Any thread.
namespace sidelight::runtime::attribute_keys {

/// After the host has made a key. A number that was used before is another key now. Throws
/// std::bad_alloc.
void learn(int keyval, MPI_Win_copy_attr_function* copy, void* extra_state);
/// The key turns out to have callbacks that are none of C. Its attributes are the host's alone.
void forget(int keyval) noexcept;
/// The program frees the key: nobody sets it any more, but where it is set it stays.
void retire(int keyval) noexcept;

/// Before the attribute is set, so that none is missed when there is no memory: throws
/// std::bad_alloc. Of a key that is not known nobody could delete it later, so the handle ends with
/// its window.
void note_set(WindowObject& object, int keyval);
void note_deleted(WindowObject& object, int keyval) noexcept;

/// As host::mpi::destroy_handle; the table has the handle as retired meanwhile, and from then on
/// unless it fails. Where destroy_handle takes a lock the attributes go before it: a delete
/// callback may wait for threads that make or free windows. Those that Fortran's bindings have set,
/// and those of freed keys, go with the handle.
[[nodiscard]] int free_handle(WindowObject& object, MPI_Win* handle) noexcept;

/// As MPI_Comm_dup does it (MPI-4.1, 7.7.2): the callback of each key that is set decides whether
/// the copy has it, and with which value. The first error of a callback, or of the host.
[[nodiscard]] int copy(const WindowObject& from, WindowObject& to) noexcept;

} // namespace sidelight::runtime::attribute_keys
