// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/transports.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "base/log.hpp"

namespace sidelight::fabric::ucx {
namespace {

constexpr std::array<std::string_view, 4> hardware_transports{"rc_", "dc_", "gga_", "ugni_rdma"};

/// Whether UCX may choose one of the transports named `words`, left the choice of `transports`. It
/// warns of settings that none of its transports has.
bool may_choose(std::string_view transports, std::initializer_list<std::string_view> words)
{
    return transports.empty() || transports.front() == '^' ||
           transports.find("all") != std::string_view::npos ||
           std::any_of(words.begin(), words.end(), [&](std::string_view word) {
               return transports.find(word) != std::string_view::npos;
           });
}

/// What the user lets UCX choose of, as UCX_TLS; empty: as it likes.
std::string chosen_transports(const std::string& transports)
{
    const char* inherited = std::getenv("UCX_TLS");
    return transports != "auto" ? transports : inherited != nullptr ? inherited : "";
}

} // namespace

std::vector<std::string> choices(const std::string& transports)
{
    std::vector<std::string> all{transports};
    if (chosen_transports(transports).empty()) {
        all.emplace_back("^posix");
    }
    return all;
}

bool may_share_memory(const std::string& transports)
{
    return may_choose(chosen_transports(transports), {"shm", "sm", "mm", "posix", "sysv"});
}

void explain_unreachable(const std::string& transports) noexcept
{
    const char* inherited = std::getenv("UCX_TLS");
    if (inherited != nullptr && transports == "auto") {
        log(LogLevel::error,
            "UCX_TLS=%s may have no transport to it: SIDELIGHT_NETWORK, as in "
            "SIDELIGHT_NETWORK=tcp, chooses others for Sidelight alone",
            inherited);
    }
    if (const char* devices = std::getenv("UCX_NET_DEVICES"); devices != nullptr) {
        log(LogLevel::error,
            "UCX_NET_DEVICES=%s may have no network to it: it holds for Sidelight, too, and "
            "needs one that reaches all nodes",
            devices);
    }
}

bool have_hardware(const std::vector<std::string>& transports) noexcept
{
    return std::any_of(transports.begin(), transports.end(), [](std::string_view transport) {
        return std::any_of(hardware_transports.begin(), hardware_transports.end(),
                           [&](std::string_view name) { return transport.starts_with(name); });
    });
}

void configure(const Library& ucx, ucp_config_t* config, const std::string& transports,
               bool registrations)
{
    const auto set = [&](const char* name, const char* value) {
        const ucs_status_t status = ucx.config_modify(config, name, value);
        if (status != UCS_OK) {
            log(LogLevel::warn, "UCX: %s=%s: %s", name, value, ucx.status_string(status));
        }
    };
    if (transports != "auto") {
        set("TLS", transports.c_str());
    }
    if (!registrations && std::getenv("UCX_RCACHE_ENABLE") == nullptr) {
        // It notes each munmap of the program until it is used, and here it never is.
        set("RCACHE_ENABLE", "n");
    }
    if (may_share_memory(transports)) {
        // Without it, endpoints that report errors do not use shared memory.
        set("MM_ERROR_HANDLING", "y");
        // A batch with a few small operations then lies in the queue itself.
        set("MM_FIFO_ELEM_SIZE", "256");
    }
    if (may_choose(chosen_transports(transports), {"tcp"})) {
        // Endpoints that report errors copy the payload of zero-copy messages through these; with
        // UCX's 8 KB it takes up to five times as long.
        for (const char* name : {"TX_SEG_SIZE", "RX_SEG_SIZE"}) {
            set(ucx.transport_setting("TCP", name).c_str(), "512K");
        }
    }
}

} // namespace sidelight::fabric::ucx
