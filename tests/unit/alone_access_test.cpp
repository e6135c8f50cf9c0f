// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <span>

#include <gtest/gtest.h>

#include "datatype/basic_layout.hpp"
#include "lone_process.hpp"

/// Small accesses that the kernel is quicker at only where the program waits for one alone.
namespace sidelight::rma {
namespace {

class CountedMemory final : public fabric::RemoteMemory {
public:
    CountedMemory() noexcept : RemoteMemory({.among_others = 8192, .alone = 0}, true) {}

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

    void get()
    {
        const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
        Operation operation;
        operation.kind = OperationKind::get;
        operation.target = 1;
        operation.origin = {&value_, &word, 1};
        operation.layout = &word;
        operation.count = 1;
        ASSERT_EQ(window_->issue(operation, nullptr), Status::ok);
    }

    CountedMemory memory_;
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
