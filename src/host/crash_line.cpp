// SPDX-License-Identifier: BSD-3-Clause
#include "host/crash_line.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sidelight::host {

namespace {

constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::atomic<const char* (*)() noexcept> what_runs{nullptr};
std::array<struct sigaction, crashes.size()> before;

iovec piece(const char* text) noexcept
{
    return {.iov_base = const_cast<char*>(text), .iov_len = std::strlen(text)};
}

/// In one call, lest lines of other ranks come between its pieces. No other call is safe in there.
void write_line(const char* signal, const char* function) noexcept
{
    const std::array line{piece("sidelight: a handler of active messages has crashed, by "),
                          piece(signal), piece(": "), piece(function), piece("\n")};
    [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, line.data(), line.size());
}

const char* word_for(int signal) noexcept
{
    switch (signal) {
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    case SIGFPE:
        return "SIGFPE";
    case SIGILL:
        return "SIGILL";
    default:
        return "SIGABRT";
    }
}

/// A fault comes again when this returns, and finds who was there before; what somebody has sent
/// is sent again.
void tell(int signal, siginfo_t* info, void* /*context*/)
{
    if (const char* name = what_runs.load(std::memory_order_acquire)(); name != nullptr) {
        write_line(word_for(signal), name);
    }
    for (std::size_t number = 0; number < crashes.size(); ++number) {
        if (crashes[number] == signal) {
            sigaction(signal, &before[number], nullptr);
        }
    }
    if (info->si_code <= 0) {
        raise(signal);
    }
}

} // namespace

std::string name_of_function(const void* function)
{
    Dl_info found{};
    std::array<char, 32> offset{};
    if (dladdr(function, &found) == 0 || found.dli_fname == nullptr) {
        std::snprintf(offset.data(), offset.size(), "%p", function);
        return offset.data();
    }
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    const auto base = reinterpret_cast<std::uintptr_t>(found.dli_fbase);
    std::snprintf(offset.data(), offset.size(), "+0x%zx", static_cast<std::size_t>(address - base));
    const bool exact = found.dli_sname != nullptr && found.dli_saddr == function;
    return (exact ? found.dli_sname + std::string(" in ") : std::string()) + found.dli_fname +
           offset.data();
}

void tell_crashes(const char* (*running)() noexcept) noexcept
{
    const char* (*nobody)() noexcept = nullptr;
    if (!what_runs.compare_exchange_strong(nobody, running, std::memory_order_acq_rel)) {
        return;
    }
    struct sigaction action {};
    action.sa_sigaction = tell;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (std::size_t number = 0; number < crashes.size(); ++number) {
        sigaction(crashes[number], &action, &before[number]);
    }
}

} // namespace sidelight::host
