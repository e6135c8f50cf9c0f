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
template <class Function>
bool is_of_program(Function* remove) noexcept
{
    constexpr std::uintptr_t least_of_a_function = 4096;
    return reinterpret_cast<std::uintptr_t>(remove) >= least_of_a_function &&
           !host::mpi::is_of_host(reinterpret_cast<void*>(remove));
}

/// A step that is under way may not know yet of what the program has given.
void await_step() noexcept
{
    if (Messages* messages = Messages::of_call(); messages != nullptr) {
        const Inside step_has_ended(*messages);
    }
}

} // namespace

/// A datatype that has been freed goes with the last request of it, and its attributes with it.
SIDELIGHT_OWN Word own_Type_create_keyval(MPI_Type_copy_attr_function* copy,
                                          MPI_Type_delete_attr_function* remove, int* keyval,
                                          void* state) noexcept
{
    if (is_of_program(remove)) {
        Messages::has_callbacks();
        await_step();
    }
    return hand_on(Call::Type_create_keyval, copy, remove, keyval, state);
}

#ifdef OPEN_MPI
constexpr bool communicators_go_with_requests = false;
#else
constexpr bool communicators_go_with_requests = true;
#endif

namespace {

/// A communicator goes with its last request, too, in MPICH: where that is one that the program has
/// freed, the host's progress ends it.
template <class Copy, class Remove>
Word create_key_of_communicators(Call call, Copy* copy, Remove* remove, int* keyval, void* state)
{
    if (communicators_go_with_requests && is_of_program(remove)) {
        Messages::has_communicators_to_delete();
        await_step();
    }
    return hand_on(call, copy, remove, keyval, state);
}

} // namespace

SIDELIGHT_OWN Word own_Comm_create_keyval(MPI_Comm_copy_attr_function* copy,
                                          MPI_Comm_delete_attr_function* remove, int* keyval,
                                          void* state) noexcept
{
    return create_key_of_communicators(Call::Comm_create_keyval, copy, remove, keyval, state);
}

#ifndef OPEN_MPI
/// The same of MPI-1, which MPICH still has.
SIDELIGHT_OWN Word own_Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* remove,
                                     int* keyval, void* state) noexcept
{
    return create_key_of_communicators(Call::Keyval_create, copy, remove, keyval, state);
}
#endif

namespace {

template <class... Words>
Word give_function(const char* name, Words... words)
{
    auto* const host = reinterpret_cast<Named*>(host::mpi::find_anywhere(name));
    Messages::has_callbacks();
    await_step();
    return host != nullptr ? host::mpi::call_named(host, words...) : Word{MPI_ERR_OTHER};
}

} // namespace

#define SIDELIGHT_GIVES_FUNCTION(name, words)                                                      \
    SIDELIGHT_ENTRY Word gives_##name(SIDELIGHT_WORD_PARAMETERS(words)) asm(#name);                \
    Word gives_##name(SIDELIGHT_WORD_PARAMETERS(words))                                            \
    {                                                                                              \
        return give_function(#name, SIDELIGHT_WORD_NAMES(words));                                  \
    }

#ifdef OPEN_MPI

/// Its Fortran bindings do not come through the C function. Fortran takes no answer.
SIDELIGHT_GIVES_FUNCTION(mpi_type_create_keyval_, 5)
SIDELIGHT_GIVES_FUNCTION(mpi_type_create_keyval__, 5)
SIDELIGHT_GIVES_FUNCTION(mpi_type_create_keyval, 5)
SIDELIGHT_GIVES_FUNCTION(MPI_TYPE_CREATE_KEYVAL, 5)
SIDELIGHT_GIVES_FUNCTION(pmpi_type_create_keyval_, 5)
SIDELIGHT_GIVES_FUNCTION(pmpi_type_create_keyval__, 5)
SIDELIGHT_GIVES_FUNCTION(pmpi_type_create_keyval, 5)
SIDELIGHT_GIVES_FUNCTION(PMPI_TYPE_CREATE_KEYVAL, 5)
SIDELIGHT_GIVES_FUNCTION(mpi_type_create_keyval_f08_, 5)
SIDELIGHT_GIVES_FUNCTION(pmpi_type_create_keyval_f08_, 5)

#else

/// MPICH's, for its progress loop to poll. The header of the standard ABI does not declare them.
SIDELIGHT_GIVES_FUNCTION(MPIX_Grequest_start, 7)
SIDELIGHT_GIVES_FUNCTION(MPIX_Grequest_class_create, 6)
#ifdef MPIX_STREAM_NULL
SIDELIGHT_GIVES_FUNCTION(MPIX_Async_start, 3)
SIDELIGHT_GIVES_FUNCTION(PMPIX_Async_start, 3)
#endif

#endif

} // namespace sidelight::messages
