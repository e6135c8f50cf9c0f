// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/table.hpp"
#include "messages/entry.hpp"

/// MPICH's calls by which a program gives its progress loop functions to poll: they would run on
/// our thread. What libsidelight.so does with these calls does not come here.
#ifndef OPEN_MPI

namespace sidelight::messages {
namespace {

Word give_polls(const char* name, Word a, Word b, Word c, Word d, Word e, Word f, Word g) noexcept
{
    using Poll = Word(Word, Word, Word, Word, Word, Word, Word);
    auto* const host = reinterpret_cast<Poll*>(host::mpi::find_symbol(name));
    if (Messages* messages = Messages::active(); messages != nullptr) {
        const Inside inside(*messages);
        messages->has_polls();
    }
    return host != nullptr ? host(a, b, c, d, e, f, g) : Word{MPI_ERR_OTHER};
}

} // namespace

#define SIDELIGHT_GIVES_POLLS(name)                                                                \
    SIDELIGHT_ENTRY Word gives_##name(Word a, Word b, Word c, Word d, Word e, Word f,              \
                                      Word g) noexcept asm(#name);                                 \
    Word gives_##name(Word a, Word b, Word c, Word d, Word e, Word f, Word g) noexcept             \
    {                                                                                              \
        return give_polls(#name, a, b, c, d, e, f, g);                                             \
    }

SIDELIGHT_GIVES_POLLS(MPIX_Grequest_start)
SIDELIGHT_GIVES_POLLS(MPIX_Grequest_class_create)
#ifdef MPIX_STREAM_NULL
SIDELIGHT_GIVES_POLLS(MPIX_Async_start)
#endif

} // namespace sidelight::messages

#endif
