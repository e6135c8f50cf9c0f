// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A barrier for both sides of an exchange that one side makes all the time and the other hardly
/// ever: then the other pays for both (membarrier, Linux 4.16; some 10 us).
///
///     often:  store a; compiler barrier; load b
///     seldom: store b; heavy_barrier();  load a
///
/// One of the two sees what the other has stored, as if there were a full barrier on both sides.
namespace sidelight {

/// Lets the heavy barriers of other processes reach this one. False: the kernel has none. May be
/// called again.
[[nodiscard]] bool allow_heavy_barriers() noexcept;

/// Every thread of every process that has allowed it has passed a full barrier. False: none has.
[[nodiscard]] bool heavy_barrier() noexcept;

/// The same two among the threads of this process alone, which costs only the cores that they run
/// on an interrupt.
[[nodiscard]] bool allow_own_heavy_barriers() noexcept;
[[nodiscard]] bool own_heavy_barrier() noexcept;

/// Allows both while that costs nothing: the kernel waits for all cores, some 10 ms, before it lets
/// a process in that has several threads. Does nothing where it has. They are allowed later then.
void allow_heavy_barriers_early() noexcept;

} // namespace sidelight
