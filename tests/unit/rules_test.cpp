// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/kind_table.hpp"
#include "rma/notice_rules.hpp"
#include "rma/rules.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace sidelight::rma::rules {
namespace {

TEST(Rules, AnAccessNeedsItsOwnGrant)
{
    EXPECT_FALSE(access_granted(1, 0));
    EXPECT_TRUE(access_granted(1, 1));
    EXPECT_TRUE(access_granted(3, 5));
    EXPECT_FALSE(access_granted(6, 5));
}

TEST(Rules, AnExposureNeedsItsOwnDone)
{
    EXPECT_FALSE(exposure_done(1, 0));
    EXPECT_TRUE(exposure_done(1, 1));
    EXPECT_TRUE(exposure_done(3, 5));
    EXPECT_FALSE(exposure_done(6, 5));
}

TEST(Rules, ANoticeComesBehindWhatTakesItsWay)
{
    EXPECT_TRUE(notice_follows(true, false));
    EXPECT_FALSE(notice_follows(true, true));
    EXPECT_FALSE(notice_follows(false, false));
    EXPECT_FALSE(notice_follows(false, true));
}

TEST(Rules, ANoticeCountsWhenTheZeroCopyPutsBeforeItAreThere)
{
    EXPECT_TRUE(notice_counts(0, 0));
    EXPECT_FALSE(notice_counts(3, 2));
    EXPECT_TRUE(notice_counts(3, 3));
    EXPECT_TRUE(notice_counts(3, 9));
    EXPECT_FALSE(notice_counts(2, 0xffff'ffffU)); // numbers wrap around
    EXPECT_TRUE(notice_counts(0xffff'fffeU, 1));
}

TEST(Rules, ANotificationComesBehindItsOperation)
{
    EXPECT_TRUE(notification_leaves(false, false));
    EXPECT_FALSE(notification_leaves(true, false));
    EXPECT_TRUE(notification_leaves(true, true));
    EXPECT_TRUE(notification_counts(0));
    EXPECT_FALSE(notification_counts(1));
}

TEST(Rules, WhoWaitsForACounterIsToldWhenItIsReached)
{
    EXPECT_FALSE(threshold_reached(2, 3));
    EXPECT_TRUE(threshold_reached(3, 3));
    EXPECT_TRUE(threshold_reached(4, 3));
    EXPECT_FALSE(notification_wakes(2, 3));
    EXPECT_TRUE(notification_wakes(3, 3));
    EXPECT_TRUE(notification_wakes(4, 3));
    EXPECT_FALSE(notification_wakes(4, 0));
}

TEST(Rules, AFlushWaitsForWhatWasIssuedBeforeIt)
{
    EXPECT_TRUE(flush_waits_for(4, 5));
    EXPECT_TRUE(flush_waits_for(5, 5));
    EXPECT_FALSE(flush_waits_for(6, 5));
    EXPECT_FALSE(flush_waits_for(1, 0));
}

TEST(Rules, OperationsLeaveAtOnceWhereThatIsOfUse)
{
    EXPECT_TRUE(leaves_at_once(false, false, false, false));
    EXPECT_FALSE(leaves_at_once(true, false, false, false));
    EXPECT_FALSE(leaves_at_once(false, true, false, false));
    EXPECT_TRUE(leaves_at_once(true, true, true, false));
    EXPECT_TRUE(leaves_at_once(true, true, false, true));
}

TEST(Rules, WhatIsWaitedForIsNotJoined)
{
    EXPECT_TRUE(may_join(true, false));
    EXPECT_FALSE(may_join(false, false));
    EXPECT_FALSE(may_join(true, true));
}

TEST(Rules, ABarrierNeedsAllMembers)
{
    EXPECT_TRUE(barrier_passed(0, 4, 0));
    EXPECT_FALSE(barrier_passed(1, 4, 3));
    EXPECT_TRUE(barrier_passed(1, 4, 4));
    EXPECT_TRUE(barrier_passed(1, 4, 7)); // some are at the next one already
    EXPECT_FALSE(barrier_passed(2, 4, 7));
    EXPECT_TRUE(barrier_passed(2, 4, 8));
    EXPECT_TRUE(barrier_passed(7, 1, 7));
}

struct LockCase {
    LockType type;
    std::uint64_t ahead;
    std::uint64_t departed;
    bool admitted;
};

TEST(Rules, ALockAdmitsByWhoIsAhead)
{
    constexpr std::uint64_t reader = shared_place;
    constexpr std::uint64_t writer = exclusive_place;
    for (const LockCase& one : {
             LockCase{LockType::exclusive, 0, 0, true},
             LockCase{LockType::exclusive, writer, 0, false},
             LockCase{LockType::exclusive, writer, writer, true},
             LockCase{LockType::exclusive, reader, 0, false},
             LockCase{LockType::exclusive, 2 * reader, reader, false},
             LockCase{LockType::exclusive, 2 * reader + writer, 2 * reader + writer, true},
             LockCase{LockType::shared, 0, 0, true},
             LockCase{LockType::shared, 5 * reader, 2 * reader, true},
             LockCase{LockType::shared, writer, 0, false},
             LockCase{LockType::shared, 3 * reader + writer, 3 * reader, false},
             LockCase{LockType::shared, 3 * reader + writer, writer, true},
             LockCase{LockType::shared, 0, 4 * reader, true},
             // A carry out of the low half, and one out of the word.
             LockCase{LockType::shared, UINT32_MAX + writer, UINT32_MAX, false},
             LockCase{LockType::shared, UINT32_MAX + writer, UINT32_MAX + writer, true},
             LockCase{LockType::exclusive, UINT64_MAX + writer, UINT64_MAX, false},
             LockCase{LockType::exclusive, UINT64_MAX + writer, UINT64_MAX + writer, true},
         }) {
        EXPECT_EQ(lock_admits(one.type, one.ahead, one.departed), one.admitted)
            << std::hex << one.ahead << ' ' << one.departed;
    }
}

TEST(Rules, FlushesPassUnseenOnlyWhereNothingIsLeft)
{
    EXPECT_TRUE(may_flush_unseen(true, false));
    EXPECT_FALSE(may_flush_unseen(true, true));
    EXPECT_FALSE(may_flush_unseen(false, false));
    EXPECT_FALSE(may_flush_unseen(false, true));
}

TEST(Rules, TheDirectPathIsOpenBesideWhatTravelsOnlyWhereThereIsOneRoute)
{
    EXPECT_TRUE(may_go_beside(false, 1));
    EXPECT_TRUE(may_go_beside(true, 0));
    EXPECT_FALSE(may_go_beside(true, 1));
}

TEST(Rules, EachKeyAllowsItsOwnPairOfEpochsOnly)
{
    constexpr EpochClass access = EpochClass::access;
    constexpr EpochClass exposure = EpochClass::exposure;
    for (unsigned keys = 0; keys < 16; ++keys) {
        const Reorder reorder{.access_after_access = (keys & 1) != 0,
                              .access_after_exposure = (keys & 2) != 0,
                              .exposure_after_exposure = (keys & 4) != 0,
                              .exposure_after_access = (keys & 8) != 0};
        EXPECT_EQ(may_overlap(access, access, reorder), reorder.access_after_access);
        EXPECT_EQ(may_overlap(exposure, access, reorder), reorder.access_after_exposure);
        EXPECT_EQ(may_overlap(exposure, exposure, reorder), reorder.exposure_after_exposure);
        EXPECT_EQ(may_overlap(access, exposure, reorder), reorder.exposure_after_access);
    }
}

TEST(Rules, ExclusiveEpochsOverlapWithNothing)
{
    constexpr Reorder all{true, true, true, true};
    for (const EpochClass other :
         {EpochClass::access, EpochClass::exposure, EpochClass::exclusive}) {
        EXPECT_FALSE(may_overlap(EpochClass::exclusive, other, all));
        EXPECT_FALSE(may_overlap(other, EpochClass::exclusive, all));
    }
}

} // namespace
} // namespace sidelight::rma::rules
