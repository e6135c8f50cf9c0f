// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "base/status.hpp"
#include "datatype/layout.hpp"
#include "datatype/mpi/predefined.hpp"

namespace sidelight::datatype {

/// The layout of any datatype, flattened at first use and cached on it as an attribute, so that it
/// goes when the type goes. Valid while the type is; `acquire` it to keep it longer.
/// Null, and `why` is Status::type, for MPI_DATATYPE_NULL, for an uncommitted type if the host can
/// tell (see `set_commit_probe`), and for one that cannot be described; Status::no_memory when
/// memory is out; with a layout `why` says nothing. Any thread may call it.
[[nodiscard]] const Layout* layout_of(MPI_Datatype type, Status& why) noexcept;

/// A communicator with at least one process and error handler MPI_ERRORS_RETURN. With it, a type's
/// first use asks the host, by an empty send to MPI_PROC_NULL, whether the type is committed.
/// MPI_COMM_NULL, the state at the start, leaves that unchecked. Any thread, as
/// host::mpi::CompletedRequest::use.
void set_commit_probe(MPI_Comm comm) noexcept;

/// Frees the attribute key. Call it before the host is finalised, and before its last session ends.
/// What is cached on types that live on is freed with them.
void close_cache() noexcept;

} // namespace sidelight::datatype
