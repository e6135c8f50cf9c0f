// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/epoch.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "datatype/basic_layout.hpp"
#include "lone_process.hpp"
#include "rma/engine/window_parts.hpp"

/// The life of an epoch, and what each kind lets through while it is open.
namespace sidelight::rma {
namespace {

using enum EpochState;
using enum EpochEvent;

TEST(EpochStates, AllowTheseStepsAndNoOthers)
{
    const std::map<std::pair<EpochState, EpochEvent>, EpochState> steps{
        {{deferred_open, activate}, active_open},     {{deferred_open, close}, deferred_closed},
        {{deferred_closed, activate}, active_closed}, {{active_open, close}, active_closed},
        {{active_closed, complete}, completed},
    };
    for (const EpochState state :
         {deferred_open, deferred_closed, active_open, active_closed, completed, illegal}) {
        for (const EpochEvent event : {activate, close, complete}) {
            const auto step = steps.find({state, event});
            EXPECT_EQ(next_state(state, event), step != steps.end() ? step->second : illegal)
                << static_cast<int>(state) << ' ' << static_cast<int>(event);
        }
    }
}

TEST(EpochKinds, HaveTheirRows)
{
    struct Expected {
        EpochKind kind;
        const char* name;
        EpochClass ordered_as;
        Passage passage;
    };
    for (const Expected& expected :
         {Expected{EpochKind::fence, "fence", EpochClass::exclusive, Passage::operations_to_all},
          Expected{EpochKind::access, "access", EpochClass::access, Passage::operations},
          Expected{EpochKind::exposure, "exposure", EpochClass::exposure, Passage::nothing},
          Expected{EpochKind::lock, "lock", EpochClass::access, Passage::operations_and_flushes},
          Expected{EpochKind::lock_all, "lock_all", EpochClass::exclusive,
                   Passage::operations_and_flushes}}) {
        const EpochKindRow& row = row_of(expected.kind);
        EXPECT_STREQ(row.name, expected.name);
        EXPECT_EQ(row.ordered_as, expected.ordered_as) << row.name;
        EXPECT_EQ(row.passage, expected.passage) << row.name;
    }
}

/// This member, one on its node whose memory is mapped, and one elsewhere. Everything goes by the
/// queue of epochs.
class EpochPassage : public LoneProcess {
protected:
    EpochPassage()
    {
        members_.bring_near(1);
        window_ = &make_window(7);
    }

    /// What goes the direct path to that member: o, operations, and f, flushes.
    [[nodiscard]] std::string passes(int rank)
    {
        const bool operations = window_->mapped().memory(rank, 0, 8) != nullptr;
        const bool flushes = window_->mapped().flush_local(rank);
        return std::string(operations ? "o" : "") + (flushes ? "f" : "");
    }
    Status put(int target)
    {
        const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
        Operation operation;
        operation.kind = OperationKind::put;
        operation.target = target;
        operation.origin = {&value_, &word, 1};
        operation.layout = &word;
        operation.count = 1;
        return window_->issue(operation, nullptr);
    }

    std::uint64_t value_ = 1;
    Window* window_;
};

constexpr Assertion unchecked{.no_check = true};

/// Runs it with 128 KB of stack.
template <class Body>
void run_on_small_stack(Body body)
{
    pthread_attr_t attributes;
    pthread_t thread{};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{128} << 10);
    const auto run = [](void* context) -> void* {
        (*static_cast<Body*>(context))();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

/// Each is the gate of the next one, and ends as soon as it has begun.
TEST_F(EpochPassage, ManyOrderedActiveMessagesFailOneBehindTheOther)
{
    const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
    ActiveCall call{.segments = 1, .input = {.layout = &word, .count = 1}};
    Operation operation;
    operation.kind = OperationKind::active_message;
    operation.ordered = true;
    operation.target = 2;
    operation.layout = &word;
    operation.count = 1;
    operation.origin = {&value_, &word, 1};
    operation.active = &call;
    ASSERT_EQ(window_->lock(LockType::exclusive, 2, {}, nullptr), Status::ok);
    for (int message = 0; message < 5000; ++message) {
        ASSERT_EQ(window_->issue(operation, nullptr), Status::ok);
    }
    run_on_small_stack([this] {
        process_.lost(2);
        process_.progress();
    });
    Request unlocked;
    ASSERT_EQ(window_->unlock(2, &unlocked), Status::ok);
    process_.progress();
    EXPECT_TRUE(unlocked.complete);
    EXPECT_EQ(unlocked.status, Status::lost);
}

TEST_F(EpochPassage, NothingPassesOutsideOfEpochs)
{
    for (const int rank : {0, 1, 2}) {
        ASSERT_NE(window_->look_up(rank), nullptr);
        EXPECT_EQ(passes(rank), "");
        EXPECT_EQ(put(rank), Status::rma_sync);
    }
}

TEST_F(EpochPassage, FenceLetsOperationsPassToAllWhenTheBarrierIsPassed)
{
    ASSERT_NE(window_->look_up(1), nullptr);
    ASSERT_EQ(window_->fence({}, nullptr), Status::ok);
    EXPECT_EQ(passes(0), "");
    let_others_arrive(1);
    EXPECT_EQ(passes(0), "o");
    EXPECT_EQ(passes(1), "o");
    EXPECT_EQ(passes(2), "");
    ASSERT_EQ(window_->fence({}, nullptr), Status::ok);
    EXPECT_EQ(passes(1), "");
}

/// The epoch after a concurrent one that nothing was recorded in does not go on as that one.
TEST_F(EpochPassage, FenceLetsActiveMessagesShareOnlyIfItAssertsIt)
{
    WindowShape shape;
    shape.id = 8;
    shape.size = 1;
    shape.members = &members_;
    shape.neighbours = self_;
    BarrierWord alone;
    shape.barrier = {.word = &alone, .node = 0, .leaders = std::span(leaders_).first(1)};
    Window& window = process_.create_window(shape);
    ASSERT_NE(window.look_up(0), nullptr);
    for (const bool concurrent : {false, true, false, true, true}) {
        ASSERT_EQ(window.fence({.concurrent = concurrent}, nullptr), Status::ok);
        ASSERT_NE(window.mapped().memory(0, 0, 8), nullptr);
        EXPECT_EQ(window.mapped().is_concurrent(0), concurrent);
    }
}

TEST_F(EpochPassage, AccessLetsOperationsPassToThoseThatHaveGrantedIt)
{
    ASSERT_NE(window_->look_up(1), nullptr);
    const std::array<int, 2> targets{1, 2};
    ASSERT_EQ(window_->start(targets, {}, nullptr), Status::ok);
    EXPECT_EQ(passes(1), "");
    members_.control(0).notices(1).granted = 1;
    process_.progress();
    EXPECT_EQ(passes(1), "o");
    EXPECT_EQ(passes(0), "");
    EXPECT_EQ(window_->flush(1, FlushScope::remote, nullptr), Status::rma_sync);
    ASSERT_EQ(window_->complete(nullptr), Status::ok);
    EXPECT_EQ(passes(1), "");
}

TEST_F(EpochPassage, ExposureLetsNothingPass)
{
    const std::array<int, 1> origins{1};
    ASSERT_EQ(window_->post(origins, nullptr), Status::ok);
    EXPECT_EQ(passes(1), "");
    EXPECT_EQ(put(1), Status::rma_sync);
}

TEST_F(EpochPassage, LockLetsOperationsAndFlushesPassToItsTarget)
{
    ASSERT_NE(window_->look_up(0), nullptr);
    ASSERT_EQ(window_->lock(LockType::shared, 1, unchecked, nullptr), Status::ok);
    EXPECT_EQ(passes(1), "of");
    EXPECT_EQ(passes(0), "");
    ASSERT_EQ(window_->unlock(1, nullptr), Status::ok);
    EXPECT_EQ(passes(1), "");
}

/// What was recorded has to be flushed once before flushes pass.
TEST_F(EpochPassage, LockThatIsWaitedForLetsNothingPass)
{
    LockQueue& queue = members_.control(1).lock;
    static_cast<void>(queue.arrive(LockType::exclusive));
    ASSERT_EQ(window_->lock(LockType::shared, 1, {}, nullptr), Status::ok);
    EXPECT_EQ(passes(1), "");
    ASSERT_EQ(put(1), Status::ok);
    queue.depart(LockType::exclusive);
    EXPECT_EQ(passes(1), "");
    process_.progress();
    EXPECT_EQ(passes(1), "o");
    Request flushed;
    ASSERT_EQ(window_->flush(1, FlushScope::remote, &flushed), Status::ok);
    EXPECT_TRUE(flushed.complete);
    EXPECT_EQ(passes(1), "of");
}

TEST_F(EpochPassage, LockAllLetsPassToEachThatHasGrantedIt)
{
    ASSERT_EQ(window_->lock_all({}, nullptr), Status::ok);
    process_.progress();
    EXPECT_EQ(passes(0), "of");
    EXPECT_EQ(passes(1), "of");
    EXPECT_EQ(passes(2), "");
    Request granted;
    ASSERT_EQ(window_->await_grant(all_targets, &granted), Status::ok);
    EXPECT_FALSE(granted.complete);
    hear_from(2, 7, MessageKind::lock_grant, NoticeBody{.number = 1});
    process_.progress();
    EXPECT_TRUE(granted.complete);
    ASSERT_EQ(window_->unlock_all(nullptr), Status::ok);
    EXPECT_EQ(passes(0), "");
    EXPECT_EQ(passes(1), "");
}

/// What a flush of all targets looks at.
TEST_F(EpochPassage, OpenEpochsAreFoundBesideAnyNumberOfClosedOnes)
{
    static_cast<void>(members_.control(1).lock.arrive(LockType::exclusive));
    const EpochQueue& queue = window_->parts().queue;
    std::array<Request, 100> flushed;
    std::array<Request, 100> closed;
    for (std::size_t index = 0; index < closed.size(); ++index) {
        ASSERT_EQ(window_->lock(LockType::exclusive, 1, {}, nullptr), Status::ok);
        ASSERT_EQ(put(1), Status::ok);
        Epoch* open = queue.open_ones().front();
        ASSERT_NE(open, nullptr);
        EXPECT_TRUE(open->open());
        EXPECT_EQ(EpochQueue::Alike::after(*open), nullptr);
        ASSERT_EQ(window_->flush(all_targets, FlushScope::remote, &flushed.at(index)), Status::ok);
        ASSERT_EQ(window_->unlock(1, &closed.at(index)), Status::ok);
        EXPECT_EQ(queue.open_ones().front(), nullptr);
    }
    members_.control(1).lock.depart(LockType::exclusive);
    process_.progress();
    for (std::size_t index = 0; index < closed.size(); ++index) {
        EXPECT_TRUE(flushed.at(index).complete && closed.at(index).complete);
    }
}

/// A grant that is taken away from one of its peers comes back only where somebody looks.
TEST_F(EpochPassage, NoPeerOfASettledEpochIsLookedAt)
{
    ASSERT_EQ(window_->lock_all({}, nullptr), Status::ok);
    hear_from(2, 7, MessageKind::lock_grant, NoticeBody{.number = 1});
    process_.progress();
    Epoch& epoch = *window_->parts().queue.all().front();
    ASSERT_TRUE(epoch.settled());
    epoch.peers[1].granted = false;
    EXPECT_FALSE(window_->progress());
    EXPECT_FALSE(std::exchange(epoch.peers[1].granted, true));
    ASSERT_EQ(window_->unlock_all(nullptr), Status::ok);
}

/// Else it would take time quadratic in the members.
TEST_F(EpochPassage, LockAllLooksAtTheOneThatItHasAskedLast)
{
    ASSERT_EQ(window_->lock_all({}, nullptr), Status::ok);
    process_.progress();
    Epoch& epoch = *window_->parts().queue.all().front();
    ASSERT_EQ(epoch.peers_granted, 2U);
    Request closed;
    for (const bool open : {true, false}) {
        epoch.peers[0].granted = false;
        EXPECT_FALSE(window_->progress());
        EXPECT_FALSE(std::exchange(epoch.peers[0].granted, true));
        if (open) {
            ASSERT_EQ(window_->unlock_all(&closed), Status::ok);
        }
    }
    EXPECT_FALSE(closed.complete);
    hear_from(2, 7, MessageKind::lock_grant, NoticeBody{.number = 1});
    process_.progress();
    EXPECT_TRUE(closed.complete);
    EXPECT_EQ(fabric_.sent(MessageKind::unlock), 1);
}

/// What it has recorded goes on without the program.
TEST_F(EpochPassage, TheGrantOfALockThatIsGivenBackIsWaitedForNoMore)
{
    LockQueue& queue = members_.control(1).lock;
    static_cast<void>(queue.arrive(LockType::exclusive));
    ASSERT_EQ(window_->lock(LockType::shared, 1, {}, nullptr), Status::ok);
    Request granted;
    ASSERT_EQ(window_->await_grant(1, &granted), Status::ok);
    process_.progress();
    EXPECT_FALSE(granted.complete);
    Request closed;
    ASSERT_EQ(window_->unlock(1, &closed), Status::ok);
    EXPECT_TRUE(granted.complete);
    EXPECT_FALSE(closed.complete);
    queue.depart(LockType::exclusive);
    process_.progress();
    EXPECT_TRUE(closed.complete);
}

/// What other calls do between fences, or where there is none, leaves the program's epochs alone.
TEST_F(EpochPassage, ABarrierLeavesOpenWhatItFindsSo)
{
    Synchronization& calls = window_->parts().synchronization;
    const Epoch* const& fence = window_->parts().open.fence;
    ASSERT_EQ(calls.meet(nullptr), Status::ok);
    EXPECT_EQ(fence, nullptr);
    EXPECT_EQ(put(0), Status::rma_sync);
    for (const bool concurrent : {false, true}) {
        ASSERT_EQ(window_->fence({.concurrent = concurrent}, nullptr), Status::ok);
        ASSERT_EQ(calls.meet(nullptr), Status::ok);
        ASSERT_NE(fence, nullptr);
        EXPECT_EQ(fence->concurrent, concurrent);
    }
}

/// The status tells the program, which may want nothing written.
TEST_F(EpochPassage, ARefusedLockIsNoNews)
{
    Window& shared_only = make_window(8, Flavor::allocate, true);
    testing::internal::CaptureStderr();
    const Status status = shared_only.lock(LockType::exclusive, 0, {}, nullptr);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(status, Status::lock_type);
}

/// The call that opens it may wait for the grant: then the epoch is open all the same.
TEST_F(EpochPassage, TheClosingCallAloneTellsOfALossBeforeTheGrant)
{
    for (const bool all : {false, true}) {
        ASSERT_EQ(all ? window_->lock_all({}, nullptr)
                      : window_->lock(LockType::exclusive, 2, {}, nullptr),
                  Status::ok);
        Request granted;
        ASSERT_EQ(window_->await_grant(all ? all_targets : 2, &granted), Status::ok);
        if (!all) {
            EXPECT_FALSE(granted.complete);
            process_.lost(2);
        }
        process_.progress();
        EXPECT_TRUE(granted.complete);
        EXPECT_EQ(granted.status, Status::ok);
        Request closed;
        ASSERT_EQ(all ? window_->unlock_all(&closed) : window_->unlock(2, &closed), Status::ok);
        process_.progress();
        EXPECT_TRUE(closed.complete);
        EXPECT_EQ(closed.status, Status::lost);
    }
}

TEST_F(EpochPassage, NothingPassesToWhoIsLost)
{
    ASSERT_EQ(window_->lock_all({}, nullptr), Status::ok);
    process_.progress();
    ASSERT_EQ(passes(1), "of");
    process_.lost(1);
    EXPECT_EQ(passes(1), "");
    EXPECT_EQ(passes(0), "of");
    process_.progress();
    EXPECT_EQ(passes(1), "");
    EXPECT_EQ(put(1), Status::lost);
}

} // namespace
} // namespace sidelight::rma
