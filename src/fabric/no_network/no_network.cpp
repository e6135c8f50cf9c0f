// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"
#include "fabric/network_fabric.hpp"

namespace sidelight::fabric {

Reason lack_for_network() noexcept { return {}; }

std::unique_ptr<NetworkFabric> open_network(PeerNumbers& /*numbers*/,
                                            const NetworkOptions& /*options*/)
{
    log(LogLevel::warn, "no network: this library was built without UCX's headers");
    return nullptr;
}

} // namespace sidelight::fabric
