// SPDX-License-Identifier: BSD-3-Clause
#include "link.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <unistd.h>

#include "base/settings.hpp"
#include "fabric/network_fabric.hpp"

namespace bench {
namespace {

using namespace sidelight;

class FabricLink final : public Link, fabric::Receiver {
public:
    FabricLink()
        : numbers_(static_cast<std::uint64_t>(getpid()) + (std::uint64_t{1} << 32)),
          fabric_(fabric::open_network(
              numbers_, {.transports = settings().network, .library = settings().ucx})),
          out_(big_bytes),
          in_(big_bytes)
    {
        if (!fabric_) {
            std::fprintf(stderr, "network: no fabric\n");
            std::exit(1);
        }
        const auto own = numbers_.own_identity();
        const auto *identity = reinterpret_cast<const std::byte *>(&own);
        address_.assign(identity, identity + sizeof own);
        address_.insert(address_.end(), fabric_->address().begin(), fabric_->address().end());
    }

    [[nodiscard]] std::span<const std::byte> address() const override { return address_; }

    void connect(std::span<const std::byte> address) override
    {
        std::uint64_t identity = 0;
        std::memcpy(&identity, address.data(), sizeof identity);
        peer_ = fabric_->meet(identity, address.subspan(sizeof identity));
    }

    void send_small(long value) override
    {
        must(fabric_->send(peer_, std::as_bytes(std::span(&value, 1)), {}));
    }
    void push() override { fabric_->push(); }

    void start_big() override
    {
        ++big_leaving;
        leaving_.finished = on_sent;
        leaving_.link = this;
        must(fabric_->send_zero_copy(peer_, {}, out_, leaving_));
    }
    void poll() override { fabric_->poll(*this); }
    void close() override { fabric_->close(*this, std::chrono::seconds(2)); }

private:
    struct Leaving : fabric::Completion {
        FabricLink *link = nullptr;
    };

    static void must(Status status)
    {
        if (status != Status::ok) {
            std::fprintf(stderr, "network: %s\n", name(status));
            std::exit(1);
        }
    }

    static void on_sent(fabric::Completion& self, Status status) noexcept
    {
        must(status);
        --static_cast<Leaving&>(self).link->big_leaving;
    }

    void receive(int, std::span<const std::byte> message) noexcept override
    {
        long value = 0;
        std::memcpy(&value, message.data(), sizeof value);
        note_small(value);
    }
    std::byte *place(int, std::span<const std::byte>, std::size_t) noexcept override
    {
        return in_.data();
    }
    void placed(int, std::span<const std::byte>, std::size_t) noexcept override { ++big_received; }
    void lost(int) noexcept override {}

    fabric::PeerNumbers numbers_;
    std::unique_ptr<fabric::NetworkFabric> fabric_;
    int peer_ = -1;
    Leaving leaving_; // all of one kind, so one will do
    std::vector<std::byte> address_;
    std::vector<std::byte> out_;
    std::vector<std::byte> in_;
};

} // namespace

std::unique_ptr<Link> open_fabric_link() { return std::make_unique<FabricLink>(); }

} // namespace bench
