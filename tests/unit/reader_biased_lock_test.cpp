// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/reader_biased_lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "base/cpu.hpp"
#include "base/heavy_barrier.hpp"
#include "base/shared_memory.hpp"
#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

using rma::ElementAccess;
using rma::ElementSlots;
using rma::ReaderBiasedLock;

constexpr std::size_t processes = 3;
constexpr std::size_t elements = 1024;
constexpr std::uint32_t number = 5;

/// What processes share.
struct Shared {
    ReaderBiasedLock gate;
    std::array<ElementSlots, processes> slots;
    std::array<std::uint64_t, elements> counts;
};

struct Added {
    std::uint64_t rows = 0;
    std::uint64_t elements = 0;
};

/// Adds to elements and rows, in turns of random lengths so that the gate opens and closes.
class Adder {
public:
    Adder(Shared& shared, std::size_t own, bool has_slot)
        : shared_(shared),
          own_(own),
          slot_(has_slot ? &shared.slots[own][0] : nullptr),
          random_(own)
    {
        for (const ElementSlots& slots : shared.slots) {
            everybody_.push_back(&slots);
        }
    }
    void add_elements(int times)
    {
        for (; times > 0; --times) {
            const ElementAccess access(shared_.gate, slot_, number);
            add_slowly(shared_.counts[random_() % (elements / processes) * processes + own_]);
            ++added_.elements;
        }
    }
    bool add_row()
    {
        shared_.gate.acquire();
        if (!shared_.gate.closed() && !shared_.gate.close(everybody_, number)) {
            shared_.gate.release();
            return false;
        }
        shared_.gate.note_row(sizeof shared_.counts);
        ++added_.rows;
        for (std::uint64_t& count : shared_.counts) {
            ++count;
        }
        shared_.gate.release();
        return true;
    }
    bool run(int rounds)
    {
        bool all = true;
        for (int round = 0; round < rounds; ++round) {
            add_elements(static_cast<int>(random_() % 200));
            for (unsigned rows = random_() % 4; rows > 0; --rows) {
                all = add_row() && all;
            }
        }
        return all;
    }
    [[nodiscard]] const Added& added() const { return added_; }

private:
    /// Nobody else adds to this element but by rows, so no instruction need be atomic; and there is
    /// time for a row to come between.
    void add_slowly(std::uint64_t& count)
    {
        const std::uint64_t before = __atomic_load_n(&count, __ATOMIC_RELAXED);
        for (unsigned delay = random_() % 8; delay > 0; --delay) {
            relax_cpu();
        }
        __atomic_store_n(&count, before + 1, __ATOMIC_RELAXED);
    }

    Shared& shared_;
    std::size_t own_;
    rma::ElementSlot* slot_;
    std::minstd_rand random_;
    std::vector<const ElementSlots*> everybody_;
    Added added_;
};

class ReaderBiasedLockTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (!allow_heavy_barriers()) {
            GTEST_SKIP() << "the kernel has no membarrier";
        }
        const File file = create_memory_file();
        ASSERT_EQ(ftruncate(file.descriptor(), sizeof(Shared)), 0);
        memory_ = Mapping::shared(file, sizeof(Shared));
        ASSERT_TRUE(memory_);
        shared_ = new (memory_.data()) Shared{};
    }
    Mapping memory_;
    Shared* shared_ = nullptr;
};

} // namespace

TEST_F(ReaderBiasedLockTest, OpensAfterElementsAndClosesForRows)
{
    Adder adder(*shared_, 0, true);
    adder.add_elements(1000);
    EXPECT_FALSE(shared_->gate.closed());
    ASSERT_TRUE(adder.add_row());
    EXPECT_TRUE(shared_->gate.closed());
    adder.add_elements(10);
    EXPECT_TRUE(shared_->gate.closed());
    adder.add_elements(1000);
    EXPECT_FALSE(shared_->gate.closed());
}

/// The less a row gains, the fewer elements wait for the next one.
TEST_F(ReaderBiasedLockTest, StaysClosedAsLongAsItsRowsAreWorth)
{
    EXPECT_FALSE(shared_->gate.enter_closed(8192));
    Adder adder(*shared_, 0, true);
    ASSERT_TRUE(adder.add_row());
    adder.add_elements(100);
    ASSERT_FALSE(shared_->gate.closed());
    shared_->gate.acquire();
    const ElementSlots* everybody[] = {&shared_->slots[0]};
    ASSERT_TRUE(shared_->gate.close(everybody, number));
    shared_->gate.note_row(64);
    shared_->gate.release();
    ASSERT_TRUE(shared_->gate.enter_closed(64));
    shared_->gate.release();
    adder.add_elements(4);
    EXPECT_TRUE(shared_->gate.closed());
    adder.add_elements(1);
    EXPECT_FALSE(shared_->gate.closed());
}

TEST_F(ReaderBiasedLockTest, WithoutASlotTheGateIsHeld)
{
    Adder adder(*shared_, 0, false);
    adder.add_elements(1000);
    ASSERT_TRUE(adder.add_row());
    adder.add_elements(1000);
    EXPECT_FALSE(shared_->gate.closed());
}

/// Nothing that one process adds is lost when another adds a row by plain loads and stores.
TEST_F(ReaderBiasedLockTest, NoUpdateIsLost)
{
    constexpr int rounds = 4000;
    Channel results;
    std::vector<pid_t> children;
    for (std::size_t own = 0; own < processes; ++own) {
        children.push_back(start_process([&, own] {
            Adder adder(*shared_, own, own != 2); // one as a thread that has no slot
            return allow_heavy_barriers() && adder.run(rounds) && results.send(adder.added());
        }));
    }
    std::uint64_t rows = 0;
    std::uint64_t single = 0;
    for (const pid_t child : children) {
        ASSERT_TRUE(went_well(child));
        Added added;
        ASSERT_TRUE(results.receive(added));
        rows += added.rows;
        single += added.elements;
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t count : shared_->counts) {
        EXPECT_GE(count, rows);
        sum += count;
    }
    EXPECT_EQ(sum, rows * elements + single);
    EXPECT_GT(rows, 100U);
    EXPECT_GT(single, 10000U);
}

} // namespace sidelight::unit
