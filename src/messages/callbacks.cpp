// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include "host/mpi/table.hpp"
#include "messages/entry.hpp"

/// The calls by which a program gives the host functions that it may call while it makes progress:
/// they would run on our thread. What libsidelight.so does with these calls does not come here.
namespace sidelight::messages {

namespace {

/// The host's own may run on our thread: MPICH 4 keeps something with the datatypes of files.
/// MPI_TYPE_NULL_DELETE_FN is one of Open MPI's, and no address of a function elsewhere.
bool is_of_program(MPI_Type_delete_attr_function* remove) noexcept
{
    constexpr std::uintptr_t least_of_a_function = 4096;
    return reinterpret_cast<std::uintptr_t>(remove) >= least_of_a_function &&
           !host::mpi::is_of_host(reinterpret_cast<void*>(remove));
}

} // namespace

/// A datatype that has been freed goes with the last request of it, and its attributes with it.
SIDELIGHT_OWN Word own_Type_create_keyval(MPI_Type_copy_attr_function* copy,
                                          MPI_Type_delete_attr_function* remove, int* keyval,
                                          void* state) noexcept
{
    if (is_of_program(remove)) {
        Messages::has_callbacks();
    }
    return hand_on(Call::Type_create_keyval, copy, remove, keyval, state);
}

#ifdef OPEN_MPI

/// Its Fortran bindings do not come through the C function.
#define SIDELIGHT_FORTRAN_KEYVAL(name)                                                             \
    SIDELIGHT_ENTRY void gives_##name(SIDELIGHT_WORD_PARAMETERS(5)) asm(#name);                    \
    void gives_##name(SIDELIGHT_WORD_PARAMETERS(5))                                                \
    {                                                                                              \
        Messages::has_callbacks();                                                                 \
        if (auto* host = reinterpret_cast<Named*>(host::mpi::find_anywhere(#name));                \
            host != nullptr) {                                                                     \
            host::mpi::call_named(host, SIDELIGHT_WORD_NAMES(5));                                  \
        }                                                                                          \
    }

SIDELIGHT_FORTRAN_KEYVAL(mpi_type_create_keyval_)
SIDELIGHT_FORTRAN_KEYVAL(mpi_type_create_keyval__)
SIDELIGHT_FORTRAN_KEYVAL(mpi_type_create_keyval)
SIDELIGHT_FORTRAN_KEYVAL(MPI_TYPE_CREATE_KEYVAL)
SIDELIGHT_FORTRAN_KEYVAL(pmpi_type_create_keyval_)
SIDELIGHT_FORTRAN_KEYVAL(pmpi_type_create_keyval__)
SIDELIGHT_FORTRAN_KEYVAL(pmpi_type_create_keyval)
SIDELIGHT_FORTRAN_KEYVAL(PMPI_TYPE_CREATE_KEYVAL)
SIDELIGHT_FORTRAN_KEYVAL(mpi_type_create_keyval_f08_)
SIDELIGHT_FORTRAN_KEYVAL(pmpi_type_create_keyval_f08_)

#endif

/// MPICH's, for its progress loop to poll. The header of the standard ABI does not declare them.
#ifndef OPEN_MPI

namespace {

template <class... Words>
Word give_polls(const char* name, Words... words)
{
    auto* const host = reinterpret_cast<Named*>(host::mpi::find_symbol(name));
    if (Messages* messages = Messages::active(); messages != nullptr) {
        const Inside inside(*messages);
        Messages::has_callbacks();
    }
    return host != nullptr ? host::mpi::call_named(host, words...) : Word{MPI_ERR_OTHER};
}

} // namespace

#define SIDELIGHT_GIVES_POLLS(name, words)                                                         \
    SIDELIGHT_ENTRY Word gives_##name(SIDELIGHT_WORD_PARAMETERS(words)) asm(#name);                \
    Word gives_##name(SIDELIGHT_WORD_PARAMETERS(words))                                            \
    {                                                                                              \
        return give_polls(#name, SIDELIGHT_WORD_NAMES(words));                                     \
    }

SIDELIGHT_GIVES_POLLS(MPIX_Grequest_start, 7)
SIDELIGHT_GIVES_POLLS(MPIX_Grequest_class_create, 6)
#ifdef MPIX_STREAM_NULL
SIDELIGHT_GIVES_POLLS(MPIX_Async_start, 3)
#endif

#endif

} // namespace sidelight::messages
