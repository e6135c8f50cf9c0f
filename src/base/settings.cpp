// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>

#include "base/whole_number.hpp"

namespace sidelight {
namespace {

template <bool Settings::*member>
void read_switch(Settings& settings, const char* value)
{
    settings.*member = is_true(value, settings.*member);
}

template <bool Settings::*member>
std::string show_switch(const Settings& settings)
{
    return settings.*member ? "1" : "0";
}

void read_spin(Settings& settings, const char* value)
{
    const std::string_view text = value;
    const int polls = whole_number<int>(text).value_or(-1);
    if (text == "auto") {
        settings.spin = -1;
    } else if (polls >= 0) {
        settings.spin = polls;
    }
}

std::string show_spin(const Settings& settings)
{
    return settings.spin < 0 ? "auto" : std::to_string(settings.spin);
}

void read_log(Settings& settings, const char* value)
{
    settings.log = log_level(value, settings.log);
}

std::string show_log(const Settings& settings) { return log_level_name(settings.log); }

template <std::string Settings::*member>
void read_text(Settings& settings, const char* value)
{
    if (*value != '\0') {
        settings.*member = value;
    }
}

template <std::string Settings::*member>
std::string show_text(const Settings& settings)
{
    return settings.*member;
}

/// A number that is not less than `least`.
template <int Settings::*member, int least>
void read_number(Settings& settings, const char* value)
{
    const int number = whole_number<int>(value).value_or(least - 1);
    if (number >= least) {
        settings.*member = number;
    }
}

template <int Settings::*member>
std::string show_number(const Settings& settings)
{
    return std::to_string(settings.*member);
}

void read_early_return(Settings& settings, const char* value)
{
    settings.early_return = early_return_bytes(value, settings.early_return);
}

std::string show_early_return(const Settings& settings)
{
    const std::size_t bytes = settings.early_return;
    return bytes == 0 ? "off" : bytes == early_return_auto ? "auto" : std::to_string(bytes);
}

void read_kernel_copy(Settings& settings, const char* value)
{
    const std::string_view text = value;
    const int bytes = whole_number<int>(text).value_or(-1);
    if (text == "auto") {
        settings.kernel_copy = kernel_copy_as_measured;
    } else if (text == "never") {
        settings.kernel_copy = kernel_copy_never;
    } else if (bytes >= 0) {
        settings.kernel_copy = bytes;
    }
}

std::string show_kernel_copy(const Settings& settings)
{
    return settings.kernel_copy == kernel_copy_as_measured ? "auto"
           : settings.kernel_copy == kernel_copy_never     ? "never"
                                                           : std::to_string(settings.kernel_copy);
}

// The words for the values of a setting, in the order of its enumerators.
constexpr std::array progress_words{"auto", "calls", "thread", "smart"};
constexpr std::array route_words{"auto", "emulated", "native"};
constexpr std::array share_policy_words{"auto", "always", "inplace", "never"};

template <class Value, std::size_t count>
Value value_of(const char* word, const std::array<const char*, count>& words, Value fallback)
{
    for (std::size_t i = 0; i < count; ++i) {
        if (std::string_view(word) == words[i]) {
            return static_cast<Value>(i);
        }
    }
    return fallback;
}

template <auto member, const auto& words>
void read_word(Settings& settings, const char* value)
{
    settings.*member = value_of(value, words, settings.*member);
}

template <auto member, const auto& words>
std::string show_word(const Settings& settings)
{
    return words[static_cast<std::size_t>(settings.*member)];
}

template <bool Settings::*member>
constexpr SettingEntry switch_entry(const char* variable, const char* info_key,
                                    const char* fallback, const char* meaning)
{
    return {variable, info_key, fallback, meaning, read_switch<member>, show_switch<member>};
}

constexpr std::array entries{
    switch_entry<&Settings::enable>("SIDELIGHT_ENABLE", nullptr, "1",
                                    "0: every window is left to the host MPI"),
    switch_entry<&Settings::sleep>("SIDELIGHT_SLEEP", nullptr, "1",
                                   "0: a call that waits never sleeps, it keeps its core busy"),
    SettingEntry{"SIDELIGHT_SPIN", nullptr, "auto",
                 "how often a call that waits polls before it sleeps; auto: for some 50 "
                 "microseconds, or a few times where ranks outnumber cores",
                 read_spin, show_spin},
    SettingEntry{
        "SIDELIGHT_PROGRESS", "sidelight_progress", "auto",
        "who moves operations on while the program computes: calls (its next MPI call), "
        "thread (a thread of the library), smart (one that is called only for what is "
        "recorded), or auto: a thread where messages or nonblocking calls need one, since the "
        "host's own calls do not move them on",
        read_word<&Settings::progress, progress_words>,
        show_word<&Settings::progress, progress_words>},
    SettingEntry{"SIDELIGHT_LARGE_MESSAGE", nullptr, "4096",
                 "bytes above which a message of the program's own has progress while it computes, "
                 "with sidelight run --progress smart",
                 read_number<&Settings::large_message, 0>, show_number<&Settings::large_message>},
    SettingEntry{"SIDELIGHT_LOG", nullptr, "error",
                 "what is written to standard error: none, error, warn, info or debug", read_log,
                 show_log},
    SettingEntry{"SIDELIGHT_ROUTE", nullptr, "auto",
                 "auto: memory on the same node is mapped, the rest reached by messages; emulated: "
                 "everything but shared windows by messages, as if each process were on a node of "
                 "its own; native: the "
                 "same, but puts and gets by UCX's own, also where it has no hardware for them",
                 read_word<&Settings::route, route_words>,
                 show_word<&Settings::route, route_words>},
    SettingEntry{"SIDELIGHT_NETWORK", nullptr, "auto",
                 "what carries messages between nodes, as UCX_TLS for UCX; auto: what UCX chooses, "
                 "without posix where it cannot begin with that",
                 read_text<&Settings::network>, show_text<&Settings::network>},
    SettingEntry{"SIDELIGHT_UCX", nullptr, "auto",
                 "path of UCX's libucp.so.0; auto: the one of the host MPI, or of the system",
                 read_text<&Settings::ucx>, show_text<&Settings::ucx>},
    SettingEntry{"SIDELIGHT_SHARE_MEMORY", "sidelight_share_memory", "auto",
                 "which memory of the program others may map: auto (what MPI_Alloc_mem hands out, "
                 "unless huge pages are lost), always (also then), inplace (private memory of "
                 "windows, too: its pages are replaced) or never",
                 read_word<&Settings::share_memory, share_policy_words>,
                 show_word<&Settings::share_memory, share_policy_words>},
    SettingEntry{"SIDELIGHT_KERNEL_COPY", nullptr, "auto",
                 "puts and gets of so many bytes or more, to private memory on the same node, are "
                 "copied by the kernel: auto (where that is quicker than messages), a number, or "
                 "never",
                 read_kernel_copy, show_kernel_copy},
    SettingEntry{"SIDELIGHT_AM_BUFFER", nullptr, "65536",
                 "bytes that a process has for active messages of each other one in a window, "
                 "before the attached buffer is used; 0: none",
                 read_number<&Settings::active_buffer, 0>, show_number<&Settings::active_buffer>},
    SettingEntry{"SIDELIGHT_AM_UNIT", nullptr, "40",
                 "segments of an active message that are sent and handed to its handler at once",
                 read_number<&Settings::active_unit, 1>, show_number<&Settings::active_unit>},
    SettingEntry{
        "SIDELIGHT_EARLY_RETURN", "sidelight_early_return", "off",
        "how many bytes a process may keep for blocking MPI_Win_complete calls that return "
        "although targets are late, where a thread finishes what is left "
        "(SIDELIGHT_PROGRESS=smart or thread) or the targets do (SIDELIGHT_OFFERS=1): off, a "
        "number (with K, M or G), or auto: 16M",
        read_early_return, show_early_return},
    switch_entry<&Settings::access_after_access>(
        "SIDELIGHT_ACCESS_AFTER_ACCESS_REORDER", "MPI_WIN_ACCESS_AFTER_ACCESS_REORDER", "0",
        "1: an access epoch may be active together with the access epoch opened before it"),
    switch_entry<&Settings::access_after_exposure>(
        "SIDELIGHT_ACCESS_AFTER_EXPOSURE_REORDER", "MPI_WIN_ACCESS_AFTER_EXPOSURE_REORDER", "0",
        "1: an access epoch may be active together with the exposure epoch opened before it"),
    switch_entry<&Settings::exposure_after_exposure>(
        "SIDELIGHT_EXPOSURE_AFTER_EXPOSURE_REORDER", "MPI_WIN_EXPOSURE_AFTER_EXPOSURE_REORDER", "0",
        "1: an exposure epoch may be active together with the exposure epoch opened before it"),
    switch_entry<&Settings::exposure_after_access>(
        "SIDELIGHT_EXPOSURE_AFTER_ACCESS_REORDER", "MPI_WIN_EXPOSURE_AFTER_ACCESS_REORDER", "0",
        "1: an exposure epoch may be active together with the access epoch opened before it"),
    switch_entry<&Settings::no_exclusive_locks>(
        "SIDELIGHT_NO_EXCLUSIVE_LOCKS", "sidelight_no_exclusive_locks", "0",
        "1: the program asks for no exclusive lock, so lock_all asks nobody; one that is asked for "
        "is refused"),
    switch_entry<&Settings::offers>(
        "SIDELIGHT_OFFERS", nullptr, "0",
        "1: who waits in MPI_Win_wait, in a fence or for a lock performs the puts, gets and "
        "accumulates that an origin on its node has recorded for that and, computing, cannot; the "
        "kernel has to let processes reach one another's memory"),
    switch_entry<&Settings::check_intrinsic>(
        "SIDELIGHT_CHECK_INTRINSIC", nullptr, "0",
        "1: accumulates that break mpi_assert_accumulate_intrinsic are reported; all operations "
        "take the long way then"),
    SettingEntry{"SIDELIGHT_TRACE", nullptr, "",
                 "a folder: each process writes there what its epochs did and what it waited for; "
                 "all calls take the long way then",
                 read_text<&Settings::trace>, show_text<&Settings::trace>},
    SettingEntry{"SIDELIGHT_TRACE_LIMIT", nullptr, "1024",
                 "megabytes that the trace of one process may fill; then it ends",
                 read_number<&Settings::trace_limit, 1>, show_number<&Settings::trace_limit>},
};

const char* environment(const char* variable) { return std::getenv(variable); }

template <std::size_t count>
bool is_one_of(std::string_view value, const std::array<std::string_view, count>& words) noexcept
{
    return std::find(words.begin(), words.end(), value) != words.end();
}

} // namespace

std::span<const SettingEntry> setting_entries() noexcept { return entries; }

bool is_true(const char* value, bool fallback) noexcept
{
    constexpr std::array<std::string_view, 4> yes{"1", "true", "yes", "on"};
    constexpr std::array<std::string_view, 4> no{"0", "false", "no", "off"};
    if (is_one_of(value, yes)) {
        return true;
    }
    return fallback && !is_one_of(value, no);
}

SharePolicy share_policy(const char* word, SharePolicy fallback) noexcept
{
    return value_of(word, share_policy_words, fallback);
}

std::size_t early_return_bytes(const char* word, std::size_t fallback) noexcept
{
    std::string_view text = word;
    if (text == "auto" || text == "off") {
        return text == "auto" ? early_return_auto : 0;
    }
    constexpr std::string_view units = "KMG";
    constexpr std::size_t step = 10; // bits from one to the next
    const std::size_t unit = text.empty() ? std::string_view::npos : units.find(text.back());
    const bool has_unit = unit != std::string_view::npos;
    text.remove_suffix(has_unit ? 1 : 0);
    const std::size_t shift = has_unit ? step * (unit + 1) : 0;
    const std::optional<std::size_t> number = whole_number<std::size_t>(text);
    return number && *number <= SIZE_MAX >> shift ? *number << shift : fallback;
}

std::optional<std::size_t> minimum_alignment(const char* word) noexcept
{
    constexpr std::size_t most = std::size_t{1} << 30;
    const std::optional<std::size_t> bytes = whole_number<std::size_t>(word);
    return bytes && std::has_single_bit(*bytes) && *bytes <= most ? bytes : std::nullopt;
}

Progress progress_mode(const char* word, Progress fallback) noexcept
{
    return value_of(word, progress_words, fallback);
}

const char* progress_mode_name(Progress mode) noexcept
{
    return progress_words[static_cast<std::size_t>(mode)];
}

Settings read_settings(const char* (*get)(const char* variable)) noexcept
{
    Settings result;
    for (const SettingEntry& entry : entries) {
        const char* value = get(entry.variable);
        entry.read(result, value != nullptr ? value : entry.fallback);
    }
    return result;
}

/// Never destroyed: MPI may end when this library has.
const Settings& settings() noexcept
{
    // In memory of its own: the first call may come where there is none left.
    alignas(Settings) static std::array<std::byte, sizeof(Settings)> place;
    static const auto* const from_environment = new (&place) Settings(read_settings(environment));
    return *from_environment;
}

} // namespace sidelight
