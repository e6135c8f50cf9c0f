// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/network_gate.hpp"

#include <sys/epoll.h>

namespace sidelight::host::node {

void NetworkGate::watch(int descriptor) noexcept
{
    epoll_event wanted{.events = EPOLLIN, .data = {}};
    watched_ = descriptor;
    gate_ = File(epoll_create1(EPOLL_CLOEXEC));
    if (gate_ && epoll_ctl(gate_.descriptor(), EPOLL_CTL_ADD, descriptor, &wanted) != 0) {
        gate_ = File();
    }
}

void NetworkGate::forget() noexcept
{
    gate_ = File();
    watched_ = -1;
}

void NetworkGate::open() noexcept { set(EPOLLIN); }

void NetworkGate::set(unsigned events) noexcept
{
    if (gate_) {
        epoll_event wanted{.events = events, .data = {}};
        epoll_ctl(gate_.descriptor(), EPOLL_CTL_MOD, watched_, &wanted);
    }
}

} // namespace sidelight::host::node
