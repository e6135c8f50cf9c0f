// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include <signal.h>

namespace sidelight {

/// What the program does about signals, put back when it goes. For loading UCX, which takes over
/// SIGHUP, and with older ones the signals of faults: they are the program's.
class KeptSignals {
public:
    KeptSignals() noexcept
    {
        for (int signal = 1; signal < signals; ++signal) {
            known_[index(signal)] = sigaction(signal, nullptr, &kept_[index(signal)]) == 0;
        }
    }
    ~KeptSignals()
    {
        for (int signal = 1; signal < signals; ++signal) {
            struct sigaction now {};
            if (known_[index(signal)] && sigaction(signal, nullptr, &now) == 0 &&
                now.sa_sigaction != kept_[index(signal)].sa_sigaction) {
                sigaction(signal, &kept_[index(signal)], nullptr);
            }
        }
    }
    KeptSignals(const KeptSignals&) = delete;
    KeptSignals& operator=(const KeptSignals&) = delete;

private:
    static constexpr int signals = 65; // of Linux
    static constexpr std::size_t index(int signal) noexcept
    {
        return static_cast<std::size_t>(signal);
    }
    std::array<struct sigaction, signals> kept_{};
    std::array<bool, signals> known_{};
};

} // namespace sidelight
