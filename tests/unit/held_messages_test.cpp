// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "lone_process.hpp"
#include "rma/channel/active_wire.hpp"

/// What a target holds behind zero-copy puts that have not come whole.
namespace sidelight::rma {
namespace {

class HeldBehindPuts : public LoneProcess {
protected:
    HeldBehindPuts()
    {
        make_window(7);
        hear_from(1, 7, MessageKind::order, OrderBody{.zero_copies = 1});
    }
};

TEST_F(HeldBehindPuts, Operations)
{
    hear_from(1, 7, MessageKind::get, GetBody{.bytes = 8});
    process_.progress();
    EXPECT_EQ(fabric_.sent(MessageKind::reply), 0);
}

/// They follow nothing that is under way. More bytes of them may come than of anything else, so
/// there would be no end to what had to be kept.
TEST_F(HeldBehindPuts, NoActiveMessages)
{
    hear_from(1, 7, MessageKind::active_reserve, ActiveReservationBody{.least = 8});
    EXPECT_EQ(fabric_.sent(MessageKind::active_reserved), 1); // there is no room
    hear_from(1, 7, MessageKind::active, ActiveBody{.segments = 1, .number = 1});
    EXPECT_EQ(fabric_.sent(MessageKind::active_done), 1); // nor such a handler
}

} // namespace
} // namespace sidelight::rma
