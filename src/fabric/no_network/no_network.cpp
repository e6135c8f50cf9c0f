// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"
#include "fabric/network_fabric.hpp"

namespace sidelight::fabric {

ReasonText lack_for_network() noexcept { return {}; }

std::unique_ptr<NetworkFabric> open_network(PeerNumbers& /*numbers*/,
                                            const NetworkOptions& /*options*/)
{
    log(LogLevel::error,
        "no network: this library was built without UCX's headers; until then windows that need "
        "messages are left to the host MPI");
    return nullptr;
}

} // namespace sidelight::fabric
