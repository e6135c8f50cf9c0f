// SPDX-License-Identifier: BSD-3-Clause
#include "rma/attention.hpp"

#include <gtest/gtest.h>

namespace sidelight::rma {
namespace {

constexpr Reason all_reasons[] = {Reason::unsettled_epoch, Reason::deferred_epoch,
                                  Reason::lost_member, Reason::acknowledgement,
                                  Reason::waiting_for_lock};

class Attentive final : public Attention {
public:
    using Attention::is_needed;
    int calls = 0;

private:
    void needed(bool needed) noexcept override
    {
        ++calls;
        EXPECT_EQ(calls % 2 != 0, needed) << "the process is told of changes alone";
        EXPECT_NE(is_needed(), needed) << "it asks before it changes";
    }
};

TEST(Attention, IsNeededForEachReason)
{
    for (const Reason reason : all_reasons) {
        Attentive window;
        window.set(reason, false);
        EXPECT_EQ(window.calls, 0);
        window.set(reason, true);
        window.set(reason, true);
        EXPECT_TRUE(window.is_needed());
        EXPECT_EQ(window.calls, 1);
        window.set(reason, false);
        EXPECT_FALSE(window.is_needed());
        EXPECT_EQ(window.calls, 2);
    }
}

TEST(Attention, IsNeededUntilTheLastReasonIsGone)
{
    Attentive window;
    for (const Reason reason : all_reasons) {
        window.set(reason, true);
    }
    for (const Reason reason : all_reasons) {
        EXPECT_TRUE(window.is_needed());
        EXPECT_EQ(window.calls, 1);
        window.set(reason, false);
    }
    EXPECT_FALSE(window.is_needed());
    EXPECT_EQ(window.calls, 2);
}

} // namespace
} // namespace sidelight::rma
