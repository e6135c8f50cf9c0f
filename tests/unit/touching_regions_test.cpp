// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>

#include "datatype/basic_layout.hpp"
#include "fabric/mapped/mapped_peer_memory.hpp"
#include "lone_process.hpp"
#include "rma/region/region_table.hpp"

/// Two regions of a dynamic window that touch, on this node: what goes over both travels, what
/// stays inside of one need not.
namespace sidelight::rma {
namespace {

struct Mappings {
    fabric::MappedPeerMemory maps;
};

class TouchingRegions : private Mappings, public LoneProcess {
protected:
    TouchingRegions() : LoneProcess(&maps)
    {
        members_.bring_near(1);
        window_ = &make_window(7, Flavor::dynamic);
        constexpr std::size_t bytes = 4096;
        FileRange whole;
        memory_ = reinterpret_cast<std::uint64_t*>(owner_.make(bytes, whole));
        for (const std::size_t half : {0, 1}) {
            FileRange part = whole;
            part.bytes = bytes / 2;
            part.offset += half * part.bytes;
            EXPECT_EQ(attached_.attach(reinterpret_cast<std::byte*>(memory_) + half * part.bytes,
                                       part.bytes, part),
                      Status::ok);
        }
        EXPECT_EQ(window_->lock(LockType::shared, 1, {}, nullptr), Status::ok);
    }

    Operation operation(OperationKind kind, std::size_t first, std::size_t words)
    {
        const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
        Operation operation;
        operation.kind = kind;
        operation.reduce = ReduceOp::sum;
        operation.target = 1;
        operation.displacement = reinterpret_cast<std::intptr_t>(memory_ + first);
        operation.origin = {ones_, &word, words};
        operation.layout = &word;
        operation.count = words;
        return operation;
    }
    void accumulate(std::size_t first, std::size_t words)
    {
        ASSERT_EQ(window_->issue(operation(OperationKind::accumulate, first, words), nullptr),
                  Status::ok);
    }
    /// Answers with its name.
    std::uint64_t compare_and_swap(std::size_t at)
    {
        Operation swap = operation(OperationKind::compare_and_swap, at, 1);
        swap.compare = &ones_[0];
        swap.result = {&old_, swap.layout, 1};
        EXPECT_EQ(window_->issue(swap, nullptr), Status::ok);
        return fabric_.last_body<CompareAndSwapBody>().operation;
    }
    [[nodiscard]] int travelling() const { return fabric_.sent(MessageKind::accumulate); }

    static constexpr std::size_t border = 256; ///< the first word of the second region
    fabric::MappedPeerMemory owner_;
    RegionTable attached_{members_.control(1).regions, owner_};
    std::uint64_t* memory_ = nullptr;
    std::uint64_t ones_[2] = {1, 1};
    std::uint64_t old_ = 0;
    Window* window_ = nullptr;
};

TEST_F(TouchingRegions, AccumulatesInsideOfOneArePerformedAtOnce)
{
    accumulate(border - 1, 1);
    accumulate(border, 1);
    EXPECT_EQ(travelling(), 0);
    EXPECT_EQ(memory_[border - 1], 1U);
    EXPECT_EQ(memory_[border], 1U);
}

/// MPI-4.1, 12.7.2: they take effect in the order of the calls.
TEST_F(TouchingRegions, AccumulatesDoNotOvertakeOneThatTravels)
{
    accumulate(border, 1); // the region is known, and the direct path open to it
    ASSERT_NE(window_->mapped().memory(1, reinterpret_cast<std::intptr_t>(memory_ + border), 8),
              nullptr);
    accumulate(border - 1, 2);
    EXPECT_EQ(travelling(), 1);
    EXPECT_EQ(window_->mapped().memory(1, reinterpret_cast<std::intptr_t>(memory_ + border), 8),
              nullptr);
    accumulate(border, 1);
    EXPECT_EQ(travelling(), 2);
    const std::uint64_t swap = compare_and_swap(border);
    EXPECT_EQ(fabric_.sent(MessageKind::compare_and_swap), 1);
    EXPECT_EQ(memory_[border], 1U);
    // All of them must be there, the one that fetches as well.
    hear_from(1, 7, MessageKind::acknowledgement, AcknowledgementBody{.fragments = 2});
    accumulate(border, 1);
    EXPECT_EQ(travelling(), 3);
    hear_from(1, 7, MessageKind::acknowledgement, AcknowledgementBody{.fragments = 3});
    hear_from(1, 7, MessageKind::refused, RefusedBody{.operation = swap, .status = 1});
    accumulate(border, 1);
    EXPECT_EQ(travelling(), 3);
    EXPECT_EQ(memory_[border], 2U);
}

/// Puts and gets may take effect in any order.
TEST_F(TouchingRegions, PutsGoBesideAccumulatesThatTravel)
{
    accumulate(border - 1, 2);
    ASSERT_EQ(window_->issue(operation(OperationKind::put, 0, 1), nullptr), Status::ok);
    EXPECT_EQ(memory_[0], 1U);
    EXPECT_EQ(fabric_.sent(MessageKind::put), 0);
}

} // namespace
} // namespace sidelight::rma
