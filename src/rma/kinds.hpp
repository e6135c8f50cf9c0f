// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sidelight::rma {

enum class LockType : std::uint8_t { shared, exclusive };

enum class EpochKind : std::uint8_t { fence, access, exposure, lock, lock_all };

/// How the reorder keys see a kind of epoch. A fence epoch is access and exposure at once, and
/// lock_all reaches everyone: neither overlaps with a neighbour.
enum class EpochClass : std::uint8_t { access, exposure, exclusive };
inline constexpr int epoch_classes = 3;

/// The four info keys of P1, section VI.B: A_A_A_R, A_A_E_R, E_A_E_R and E_A_A_R.
struct Reorder {
    bool access_after_access = false;
    bool access_after_exposure = false;
    bool exposure_after_exposure = false;
    bool exposure_after_access = false;
};

/// The assertions of MPI-4.1, 12.5.5, that change what the engine does. MPI_MODE_NOSTORE and
/// MPI_MODE_NOPUT promise what nothing here could save by.
struct Assertion {
    bool no_check = false;
    bool no_precede = false;
    bool no_succeed = false;
    bool concurrent = false; ///< MPIX_MODE_CONCURRENT_AM (P5)
};

/// The predefined operations of accumulates (MPI-4.1, 6.9.2 and 12.3.4).
enum class ReduceOp : std::uint8_t {
    sum,
    prod,
    max,
    min,
    land,
    lor,
    lxor,
    band,
    bor,
    bxor,
    maxloc,
    minloc,
    replace,
    no_op,
    count_
};

enum class FlushScope : std::uint8_t { local, remote };
inline constexpr int flush_scopes = 2;

/// Which thread of the program an operation or a flush is of, where the window has thread scope
/// (P2, section 2.1): 1 to most_thread_numbers. 0: the process's, or a thread's without a number.
using ThreadNumber = std::uint8_t;
inline constexpr ThreadNumber no_thread = 0;
inline constexpr ThreadNumber most_thread_numbers = 63;

/// Which order active messages of one origin keep at one target, where the memory that they are
/// about overlaps (info am_ordering; P5, section IV.E.1).
struct ActiveOrder {
    bool same_op = true;      ///< of one operation
    bool diff_op = true;      ///< of different ones
    bool same_message = true; ///< the segments of one message
};

/// By what an operation whose place in the order of issue counts is performed, while it is under
/// way. Those at once never are.
enum class Road : std::uint8_t {
    waiting,    ///< for what is under way before it; then it goes by messages
    messages,   ///< in fragments that are copied, each performed when it comes
    long_put,   ///< one zero-copy message, which later ones may overtake
    long_get,   ///< its answer is read from the target's memory after the request has come
    native_put, ///< all of it is with the fabric
    native,     ///< any other that the fabric performs
    active,     ///< an active message: performed some time after it has come
    at_once,    ///< within the call: mapped, or copied by the kernel
};
inline constexpr int roads_under_way = static_cast<int>(Road::at_once);

/// What a window is, as MPI_WIN_CREATE_FLAVOR has it.
enum class Flavor : std::uint8_t { create, allocate, dynamic, shared };

} // namespace sidelight::rma
