// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstdint>
#include <span>

#include <gtest/gtest.h>

#include "datatype/builder.hpp"
#include "lone_process.hpp"

/// Small accesses that the kernel is quicker at only where the program waits for one alone.
namespace sidelight::rma {
namespace {

class CountedMemory final : public fabric::RemoteMemory {
public:
    CountedMemory() noexcept : RemoteMemory({.among_others = 8192, .alone = 0, .piece = 64}, true)
    {}

    fabric::Access put(std::span<const fabric::AccessPiece> /*pieces*/,
                       fabric::Completion& /*done*/) noexcept override
    {
        ++accesses;
        return fabric::Access::complete;
    }
    fabric::Access get(std::span<const fabric::AccessPiece> pieces,
                       fabric::Completion& done) noexcept override
    {
        return put(pieces, done);
    }

    int accesses = 0;
};

class AloneAccess : public LoneProcess {
protected:
    AloneAccess()
    {
        members_.remote = &memory_;
        window_ = &make_window(7);
    }

    void get() { ASSERT_EQ(window_->issue(get_of_word(1, value_), nullptr), Status::ok); }

    /// Four, of so many bytes each.
    void put_pieces(std::size_t length)
    {
        datatype::LayoutBuilder builder;
        for (std::size_t place : {0, 2, 4, 6}) {
            builder.append_block(static_cast<std::ptrdiff_t>(place * length), length,
                                 datatype::Basic::byte);
        }
        const datatype::LayoutPointer strided =
            builder.finish(0, static_cast<std::ptrdiff_t>(8 * length));
        Operation operation;
        operation.kind = OperationKind::put;
        operation.target = 1;
        operation.origin = {memory_here_.data(), strided.get(), 1};
        operation.layout = strided.get();
        operation.count = 1;
        ASSERT_EQ(window_->lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
        ASSERT_EQ(window_->issue(operation, nullptr), Status::ok);
    }

    CountedMemory memory_;
    std::array<std::byte, 512> memory_here_{};
    std::uint64_t value_ = 1;
    Window* window_ = nullptr;
};

TEST_F(AloneAccess, OfSeveralOnlyTheFirstIs)
{
    ASSERT_EQ(window_->lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    get();
    EXPECT_EQ(memory_.accesses, 1);
    get();
    EXPECT_EQ(memory_.accesses, 1);
}

/// The kernel takes as long for each as a message does.
TEST_F(AloneAccess, IsNoneOfManySmallPieces)
{
    put_pieces(32);
    EXPECT_EQ(memory_.accesses, 0);
}

TEST_F(AloneAccess, IsOneOfLargePieces)
{
    put_pieces(64);
    EXPECT_EQ(memory_.accesses, 1);
}

/// When the lock comes the program waits already.
TEST_F(AloneAccess, IsOneStillWhenItsLockComesLater)
{
    Request closed;
    ASSERT_EQ(window_->lock(LockType::exclusive, 1, {}, nullptr), Status::ok);
    get();
    get();
    ASSERT_EQ(window_->unlock(1, &closed), Status::ok);
    EXPECT_EQ(memory_.accesses, 0);
    hear_from(1, 7, MessageKind::lock_grant, NoticeBody{.number = 1});
    process_.progress();
    EXPECT_EQ(memory_.accesses, 1);
}

} // namespace
} // namespace sidelight::rma
