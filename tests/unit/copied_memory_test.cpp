// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/mapped/copied_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

using fabric::Access;
using fabric::AccessPiece;
using fabric::Completion;
using fabric::CopiedMemory;

constexpr std::size_t page = 4096;
constexpr std::size_t bytes = 8 * page;
constexpr std::uint64_t mark = 0x5113'1196'4711'0815;

std::uint64_t address_of(const void* data) noexcept
{
    return reinterpret_cast<std::uint64_t>(data);
}

/// Pages at an address that the child, made later, has its own copy of. What follows them cannot be
/// reached.
std::byte* private_pages()
{
    void* data =
        mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(data, MAP_FAILED);
    EXPECT_EQ(mprotect(static_cast<std::byte*>(data) + bytes, page, PROT_NONE), 0);
    return static_cast<std::byte*>(data);
}

std::byte value(std::size_t index) noexcept { return static_cast<std::byte>(7 * index + 3); }

/// A process with pages of its own, filled with `value`, that tells what it finds in them.
class CopiedMemoryOfAnother : public testing::Test {
protected:
    void SetUp() override
    {
        child_ = start_process([this] {
            for (std::size_t i = 0; i < bytes; ++i) {
                memory_[i] = value(i);
            }
            std::memcpy(memory_, &mark, sizeof mark);
            int round = 0;
            while (to_parent_.send(round) && to_child_.receive(round) && round >= 0) {
                for (std::size_t i = 0; i < bytes; i += page / 2) {
                    if (!to_parent_.send(*reinterpret_cast<const Chunk*>(memory_ + i))) {
                        return false;
                    }
                }
            }
            return true;
        });
        int round = 0;
        ASSERT_TRUE(to_parent_.receive(round));
        if (!fabric::can_copy(child_, address_of(memory_), mark)) {
            ASSERT_TRUE(stop());
            GTEST_SKIP() << "the kernel does not let processes copy here";
        }
    }
    void TearDown() override
    {
        if (child_ > 0) {
            EXPECT_TRUE(stop());
        }
        munmap(memory_, bytes + page);
    }

    /// What the child sees.
    std::vector<std::byte> theirs()
    {
        std::vector<std::byte> all(bytes);
        EXPECT_TRUE(to_child_.send(1));
        for (std::size_t i = 0; i < bytes; i += page / 2) {
            Chunk chunk{};
            EXPECT_TRUE(to_parent_.receive(chunk));
            std::memcpy(all.data() + i, chunk.data(), chunk.size());
        }
        int round = 0;
        EXPECT_TRUE(to_parent_.receive(round));
        return all;
    }
    bool stop()
    {
        const pid_t child = std::exchange(child_, 0);
        return to_child_.send(-1) && went_well(child);
    }
    [[nodiscard]] CopiedMemory opened() const { return {child_, address_of(memory_), {}}; }

    using Chunk = std::array<std::byte, page / 2>;
    std::byte* memory_ = private_pages();
    Channel to_child_;
    Channel to_parent_;
    pid_t child_ = 0;
    Completion unused_{};
};

} // namespace

TEST_F(CopiedMemoryOfAnother, IsReadInPieces)
{
    CopiedMemory memory = opened();
    std::vector<std::byte> got(bytes);
    std::vector<AccessPiece> pieces;
    for (std::size_t i = 0; i < CopiedMemory::most_pieces; ++i) { // from its end to its begin
        const std::size_t there = bytes - (i + 1) * 511;
        pieces.push_back({.here = got.data() + i * 509, .there = there, .bytes = 509});
    }
    ASSERT_EQ(memory.get(pieces, unused_), Access::complete);
    for (const AccessPiece& piece : pieces) {
        for (std::size_t i = 0; i < piece.bytes; ++i) {
            ASSERT_EQ(piece.here[i], value(piece.there + i));
        }
    }
}

TEST_F(CopiedMemoryOfAnother, IsWrittenWhereAskedForAndNowhereElse)
{
    CopiedMemory memory = opened();
    std::vector<std::byte> data(3 * page, std::byte{0xee});
    const std::array<AccessPiece, 2> pieces{
        AccessPiece{.here = data.data(), .there = page - 1, .bytes = 2 * page + 2},
        AccessPiece{.here = data.data() + 100, .there = bytes - 3, .bytes = 3}};
    ASSERT_EQ(memory.put(pieces, unused_), Access::complete);
    const std::vector<std::byte> now = theirs();
    for (std::size_t i = sizeof mark; i < bytes; ++i) {
        const bool put = (i >= page - 1 && i < 3 * page + 1) || i >= bytes - 3;
        ASSERT_EQ(now[i], put ? std::byte{0xee} : value(i)) << i;
    }
}

TEST_F(CopiedMemoryOfAnother, FailsWhereNothingIsAndGoesOnElsewhere)
{
    CopiedMemory memory = opened();
    std::array<std::byte, 2 * page> data{};
    const std::array<AccessPiece, 2> beyond{
        AccessPiece{.here = data.data(), .there = 64, .bytes = 8},
        AccessPiece{.here = data.data() + 8, .there = bytes - 8, .bytes = 16}};
    EXPECT_EQ(memory.get(beyond, unused_), Access::failed);
    EXPECT_EQ(memory.put(beyond, unused_), Access::failed);
    const std::array<AccessPiece, 1> inside{
        AccessPiece{.here = data.data(), .there = 64, .bytes = 8}};
    EXPECT_EQ(memory.get(inside, unused_), Access::complete);
}

TEST_F(CopiedMemoryOfAnother, IsNotTakenForThatOfAThirdProcess)
{
    EXPECT_FALSE(fabric::can_copy(child_, address_of(memory_), mark + 1));
    EXPECT_FALSE(fabric::can_copy(child_, address_of(memory_ + bytes), mark));
}

TEST_F(CopiedMemoryOfAnother, FailsWhenItsOwnerIsGone)
{
    CopiedMemory memory = opened();
    const pid_t child = child_;
    ASSERT_TRUE(stop());
    std::array<std::byte, 8> data{};
    const std::array<AccessPiece, 1> piece{AccessPiece{.here = data.data(), .bytes = 8}};
    EXPECT_EQ(memory.put(piece, unused_), Access::failed);
    EXPECT_EQ(memory.get(piece, unused_), Access::failed);
    EXPECT_FALSE(fabric::can_copy(child, address_of(memory_), mark));
}

} // namespace sidelight::unit
