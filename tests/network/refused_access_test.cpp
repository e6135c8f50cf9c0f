// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>

#include "fabric/remote_memory.hpp"
#include "fabric/ucx/ucx_fabric.hpp"
#include "network/traffic.hpp"
#include "unit/processes.hpp"

/// Puts that UCX refuses in the call.
namespace sidelight::network_tests {
namespace {

using fabric::Access;
using fabric::AccessPiece;
using fabric::Completion;

const fabric::ucx::Library* ucx = nullptr;
int puts = 0;       ///< asked for
int last_taken = 0; ///< of these; those behind it are refused
int taken_at_once = 0;
int flushes = 0;

ucs_status_ptr_t put_or_refuse(ucp_ep_h endpoint, const void* from, size_t bytes, uint64_t there,
                               ucp_rkey_h key, const ucp_request_param_t* param)
{
    if (puts++ >= last_taken) {
        return reinterpret_cast<ucs_status_ptr_t>(static_cast<std::intptr_t>(UCS_ERR_NO_MEMORY));
    }
    ucs_status_ptr_t request = ucx->put(endpoint, from, bytes, there, key, param);
    taken_at_once += request == nullptr ? 1 : 0;
    return request;
}

ucs_status_ptr_t count_flush(ucp_ep_h endpoint, const ucp_request_param_t* param)
{
    ++flushes;
    return ucx->ep_flush(endpoint, param);
}

struct Nobody final : fabric::Receiver {
    void receive(int, std::span<const std::byte>) noexcept override { ++messages; }
    std::byte* place(int, std::span<const std::byte>, std::size_t) noexcept override
    {
        return nullptr;
    }
    void placed(int, std::span<const std::byte>, std::size_t) noexcept override {}
    void lost(int) noexcept override { ++losses; }
    int messages = 0;
    int losses = 0;
};

struct Done : Completion {
    Done() noexcept
    {
        finished = [](Completion& self, Status with) noexcept {
            auto& done = static_cast<Done&>(self);
            ++done.times;
            done.status = with;
            done.flushes_before = flushes;
        };
        left = [](Completion&) noexcept { ADD_FAILURE() << "it is not done"; };
    }
    int times = 0;
    int flushes_before = 0;
    Status status = Status::ok;
};

/// A process that reaches itself.
struct Alone {
    Alone()
        : library(wrapped()),
          fabric(library, numbers, {.transports = "posix,self", .always_access = true})
    {
        self = fabric.meet(numbers.own_identity(), fabric.address());
        EXPECT_EQ(fabric.send(self, std::array<std::byte, 8>{}, {}), Status::ok);
        fabric.push();
        poll_until([&] { return receiver.messages == 1; });
        EXPECT_TRUE(fabric.accesses(self));
        EXPECT_TRUE(fabric.expose(memory, exposed));
        theirs = fabric.open(self, std::span(exposed.key).first(exposed.key_bytes));
        EXPECT_NE(theirs, nullptr);
    }
    ~Alone()
    {
        theirs.reset();
        fabric.conceal(exposed);
    }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

    static fabric::ucx::Library wrapped()
    {
        const char* chosen = std::getenv("SIDELIGHT_UCX");
        ucx = fabric::ucx::Library::load(chosen != nullptr ? chosen : "auto");
        fabric::ucx::Library library = *ucx;
        library.put = put_or_refuse;
        library.ep_flush = count_flush;
        return library;
    }

    Access put(Completion& done)
    {
        puts = 0;
        const std::array<AccessPiece, 3> pieces{{{.here = &data[0], .there = 0, .bytes = 1},
                                                 {.here = &data[1], .there = 8, .bytes = 1},
                                                 {.here = &data[2], .there = 16, .bytes = 1}}};
        return theirs->put(pieces, done);
    }

    void poll_until(const std::function<bool()>& condition)
    {
        const auto end = Clock::now() + std::chrono::seconds(60);
        while (!condition() && Clock::now() < end) {
            fabric.poll(receiver);
        }
        EXPECT_TRUE(condition());
    }

    fabric::PeerNumbers numbers{1};
    fabric::ucx::Library library;
    fabric::ucx::UcxFabric fabric;
    Nobody receiver;
    int self = -1;
    std::array<std::byte, 64> memory{};
    std::array<std::byte, 3> data{std::byte{1}, std::byte{2}, std::byte{3}};
    fabric::ExposedMemory exposed;
    std::unique_ptr<fabric::RemoteMemory> theirs;
};

bool run_alone(const std::function<void(Alone&)>& body)
{
    return unit::went_well(unit::start_process([&] {
        {
            Alone alone;
            body(alone);
        }
        return !testing::Test::HasFailure();
    }));
}

TEST(RefusedAccess, HasNotBegunWhereNothingWasTaken)
{
    EXPECT_TRUE(run_alone([](Alone& alone) {
        last_taken = 0;
        Done done;
        EXPECT_EQ(alone.put(done), Access::failed);
        alone.fabric.push();
        for (int i = 0; i < 100; ++i) {
            alone.fabric.poll(alone.receiver);
        }
        EXPECT_EQ(done.times, 0);
        EXPECT_EQ(alone.receiver.losses, 0);
    }));
}

/// What was taken may land until it is flushed: whoever does it in another way waits for that.
TEST(RefusedAccess, IsToldWhenWhatWasTakenIsThere)
{
    EXPECT_TRUE(run_alone([](Alone& alone) {
        last_taken = 2;
        flushes = taken_at_once = 0;
        Done done;
        EXPECT_EQ(alone.put(done), Access::pending);
        EXPECT_EQ(taken_at_once, 2) << "otherwise nothing is tested";
        alone.fabric.push();
        alone.poll_until([&] { return done.times == 1; });
        EXPECT_EQ(done.status, Status::other);
        EXPECT_GE(done.flushes_before, 1);
        EXPECT_EQ(alone.memory[0], std::byte{1});
        EXPECT_EQ(alone.memory[8], std::byte{2});
        EXPECT_EQ(alone.memory[16], std::byte{0});
        EXPECT_EQ(alone.receiver.losses, 0);
    }));
}

} // namespace
} // namespace sidelight::network_tests
