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

/// MPICH calls an error handler where a request that is asked for has failed, on whatever thread; 5
/// makes a persistent one idle that is complete, and MPI_Waitany then finds none.
#ifdef OPEN_MPI
constexpr bool may_ask_for_requests = true;
#else
constexpr bool may_ask_for_requests = false;
#endif

} // namespace sidelight::messages
