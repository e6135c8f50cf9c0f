// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/log.hpp"

namespace sidelight {

/// How members of a window reach each other's memory.
enum class Route {
    automatic, ///< mapped where they are on one node, else by messages
    emulated,  ///< by messages, as if each process were on a node of its own
    native,    ///< the same, but puts and gets by UCX, whatever it makes of them
};

/// Which memory of the program others may map. See docs/guide/user-memory.md.
enum class SharePolicy : std::uint8_t {
    automatic, ///< what is shared anyway, and what MPI_Alloc_mem hands out if that makes it no
               ///< slower
    always,    ///< all that MPI_Alloc_mem hands out
    in_place,  ///< private memory of windows, too: its pages are replaced
    never,     ///< what is shared anyway
};

/// "auto", "always", "inplace", "never"; `fallback` for any other word.
[[nodiscard]] SharePolicy share_policy(const char* word, SharePolicy fallback) noexcept;

/// Who moves pending operations on while the program computes.
enum class Progress : std::uint8_t {
    automatic, ///< a thread where messages come, or nonblocking calls leave something, and the
               ///< host's blocking calls do not sweep
    calls,     ///< nobody: its next MPI call does
    thread,    ///< a thread that any ring and any message wakes
    smart,     ///< one that is called for what there is recorded work for
};

/// "auto", "calls", "thread", "smart"; `fallback` for any other word.
[[nodiscard]] Progress progress_mode(const char* word, Progress fallback) noexcept;
[[nodiscard]] const char* progress_mode_name(Progress mode) noexcept;

/// What SIDELIGHT_EARLY_RETURN and its info key say: a number of bytes, with K, M or G for powers
/// of 1024, "auto", or "off", which is 0. `fallback` for anything else.
[[nodiscard]] std::size_t early_return_bytes(const char* word, std::size_t fallback) noexcept;
inline constexpr std::size_t early_return_auto = std::size_t{16} << 20;

/// What the info key mpi_minimum_memory_alignment asks for (MPI-4.1, 9.2): a power of two, a GiB at
/// most. None: it asks for nothing that can be given.
[[nodiscard]] std::optional<std::size_t> minimum_alignment(const char* word) noexcept;

inline constexpr int kernel_copy_as_measured = -1;
inline constexpr int kernel_copy_never = -2;

/// What the user can set. Names of the variables: settings.cpp.
struct Settings {
    bool enable = true;
    Route route = Route::automatic;
    bool sleep = true;
    int spin = -1; ///< polls before sleeping; -1: decided by the number of ranks and cores
    Progress progress = Progress::automatic;
    int large_message = 4096; ///< bytes above which the host's messages have progress
    LogLevel log = LogLevel::error;
    std::string network = "auto"; ///< the transports between nodes, as UCX_TLS
    std::string ucx = "auto";     ///< path of libucp.so.0
    SharePolicy share_memory = SharePolicy::automatic;
    int kernel_copy = kernel_copy_as_measured; ///< fewest bytes that the kernel copies
    int active_buffer = 65536;                 ///< bytes for active messages of each origin
    int active_unit = 40;                      ///< segments of them that are sent and run at once
    std::size_t early_return = 0;              ///< bytes kept for calls that return early; 0: none
    bool access_after_access = false;          ///< the reorder keys that new windows start with
    bool access_after_exposure = false;
    bool exposure_after_exposure = false;
    bool exposure_after_access = false;
    bool no_exclusive_locks = false; ///< promised for all windows
    bool offers = false;             ///< who waits performs what computing origins offer
    bool check_intrinsic = false;    ///< accumulates are compared with what the program asserts
    std::string trace;               ///< the folder for the files of a trace; empty: none
    int trace_limit = 1024;          ///< megabytes of one file
};

/// How one of them is set: by an environment variable, some also per window by an info key.
struct SettingEntry {
    const char* variable;
    const char* info_key; ///< null: the environment only
    const char* fallback; ///< the value where it is not set
    const char* meaning;
    /// Takes over a value; one that makes no sense changes nothing.
    void (*read)(Settings& settings, const char* value);
    /// The value in force.
    std::string (*show)(const Settings& settings);
};

/// All of them: what `sidelight info` prints and docs/reference/settings.md lists.
[[nodiscard]] std::span<const SettingEntry> setting_entries() noexcept;

/// Read from the environment at the first call; constant afterwards.
[[nodiscard]] const Settings& settings() noexcept;

/// Reads them through `get`, which is std::getenv or a test's own. Null: not set.
[[nodiscard]] Settings read_settings(const char* (*get)(const char* variable)) noexcept;

/// Whether a value means yes (1, true, yes, on) or no (0, false, no, off); else `fallback`.
[[nodiscard]] bool is_true(const char* value, bool fallback) noexcept;

} // namespace sidelight
