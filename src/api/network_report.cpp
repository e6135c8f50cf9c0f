// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <exception>
#include <string>

#include "api/entry.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "fabric/network_fabric.hpp"

using namespace sidelight;

/// What a network would be made of here, for `sidelight info`: opens one with the settings in
/// force, and closes it. Bytes of this process's address in it, and what carries its messages in
/// `description`, which has `bytes`; 0 where there is none, and the log says why.
SIDELIGHT_ENTRY std::size_t sidelight_network(char* description, std::size_t bytes)
{
    try {
        fabric::PeerNumbers numbers(1);
        const auto network = fabric::open_network(
            numbers, {.transports = settings().network, .library = settings().ucx});
        if (network == nullptr) {
            return 0;
        }
        std::snprintf(description, bytes, "%s", network->description().c_str());
        return network->address().size();
    } catch (const std::exception& error) {
        log(LogLevel::warn, "no network: %s", error.what());
        return 0;
    }
}
