// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/network_gate.hpp"

#include <utility>

#include <sys/epoll.h>

namespace sidelight::host::node {

void NetworkGate::watch(int descriptor) noexcept
{
    epoll_event wanted{.events = EPOLLIN, .data = {}};
    watched_ = descriptor;
    File gate = out_of_the_way(File(epoll_create1(EPOLL_CLOEXEC)));
    const bool watches =
        gate && epoll_ctl(gate.descriptor(), EPOLL_CTL_ADD, descriptor, &wanted) == 0;
    gate_ = watches ? HeldFile(std::move(gate)) : HeldFile();
}

void NetworkGate::forget() noexcept
{
    gate_ = HeldFile();
    watched_ = -1;
}

void NetworkGate::open() noexcept { set(EPOLLIN); }

/// What a program has opened in its place does not watch that descriptor, so it stays as it is.
void NetworkGate::set(unsigned events) noexcept
{
    epoll_event wanted{.events = events, .data = {}};
    epoll_ctl(gate_.descriptor(), EPOLL_CTL_MOD, watched_, &wanted);
}

} // namespace sidelight::host::node
