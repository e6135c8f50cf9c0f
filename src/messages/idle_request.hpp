// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "messages/calls.hpp"

namespace sidelight::messages {

/// A request of our own thread's that is not complete as long as it is there: to ask for it makes
/// the host progress, and says nothing about any request of the program's.
class IdleRequest {
public:
    /// Once. Starts it at the first call. Does nothing where the host gives none.
    void ask(AskStatus* status) noexcept;
    /// Before MPI ends.
    void end() noexcept;

private:
    MPI_Request request_ = MPI_REQUEST_NULL;
};

/// MPICH 5 makes a persistent request idle when it is asked for and complete: MPI_Waitany then
/// finds none. What no host should do is not tried on others of the family either.
#ifdef MPICH_NUMVERSION
constexpr bool may_ask_for_persistent = false;
#else
constexpr bool may_ask_for_persistent = true;
#endif

} // namespace sidelight::messages
