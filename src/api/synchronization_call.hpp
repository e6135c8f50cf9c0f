// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/request.hpp"
#include "runtime/window_object.hpp"

/// The synchronisation calls of MPI-4.1, 12.5, as far as the blocking and the nonblocking form are
/// the same: check the arguments, translate them, call the engine. The caller holds the engine.
namespace sidelight::api {

using runtime::WindowObject;

using rma::Request;

Status fence(const WindowObject& object, int assertion, Request* request) noexcept;
Status post(WindowObject& object, MPI_Group group, int assertion, Request* request) noexcept;
Status start(WindowObject& object, MPI_Group group, int assertion, Request* request) noexcept;
Status lock(const WindowObject& object, int type, int rank, int assertion,
            Request* request) noexcept;
Status unlock(const WindowObject& object, int rank, Request* request) noexcept;
Status lock_all(const WindowObject& object, int assertion, Request* request) noexcept;
/// `rank` may not be rma::all_targets; for those there is `flush_all`.
Status flush(const WindowObject& object, int rank, rma::FlushScope scope,
             Request* request) noexcept;
Status flush_all(const WindowObject& object, rma::FlushScope scope, Request* request) noexcept;

} // namespace sidelight::api
