// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/mapped/mapped_peer_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>

#include "unit/open_files.hpp"
#include "unit/processes.hpp"

namespace sidelight::fabric {
namespace {

using unit::next_descriptor;

TEST(MappedPeerMemory, EachBlockIsItsOwnForOthersToo)
{
    MappedPeerMemory owner;
    MappedPeerMemory peer;
    constexpr std::size_t bytes = 5000;
    std::array<FileRange, 200> where{};
    std::array<std::byte*, 200> blocks{};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        blocks[i] = owner.make(bytes, where[i]);
        ASSERT_NE(blocks[i], nullptr);
        std::memset(blocks[i], static_cast<int>(i), bytes);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        std::byte* seen = peer.map(where[i]);
        ASSERT_NE(seen, nullptr);
        EXPECT_EQ(std::memcmp(seen, blocks[i], bytes), 0) << i;
        owner.destroy(blocks[i], where[i]);
        EXPECT_EQ(seen[bytes - 1], static_cast<std::byte>(i)); // as long as somebody looks
        peer.unmap(seen, where[i]);
    }
    EXPECT_EQ(owner.mappings() + peer.mappings(), 0);
}

/// A process may have few files open.
TEST(MappedPeerMemory, ManyBlocksTakeFewDescriptors)
{
    MappedPeerMemory owner;
    const int before = next_descriptor();
    std::vector<std::pair<std::byte*, FileRange>> blocks(1000);
    for (auto& [data, where] : blocks) {
        data = owner.make(64, where);
        ASSERT_NE(data, nullptr);
    }
    EXPECT_LE(next_descriptor(), before + 32);
    for (const auto& [data, where] : blocks) {
        owner.destroy(data, where);
    }
    EXPECT_EQ(next_descriptor(), before);
}

/// The program has closed all descriptors that it does not know, and opened its own.
TEST(MappedPeerMemory, LeavesAFileInItsPlaceAlone)
{
    MappedPeerMemory owner;
    const int next = next_descriptor();
    FileRange where;
    std::byte* first = owner.make(64, where);
    ASSERT_NE(first, nullptr);
    const unit::PipeInItsPlace pipe(next);
    FileRange later;
    std::byte* second = owner.make(64, later);
    ASSERT_NE(second, nullptr);
    owner.destroy(first, where);
    owner.destroy(second, later);
    EXPECT_TRUE(pipe.is_untouched());
}

/// A file of the program's that it has attached, and has locked: closing any other descriptor of it
/// would give that up.
TEST(MappedPeerMemory, LeavesRecordLocksOfTheProgramAlone)
{
    const File file(memfd_create("program", MFD_CLOEXEC));
    ASSERT_TRUE(grow(file, page_size()));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    ASSERT_EQ(fcntl(file.descriptor(), F_SETLK, &lock), 0);
    MappedPeerMemory peer;
    const FileRange where{address_of(file), 0, page_size()};
    std::byte* seen = peer.map(where);
    ASSERT_NE(seen, nullptr);
    peer.unmap(seen, where);
    EXPECT_TRUE(unit::went_well(unit::start_process(
        [&] { return fcntl(file.descriptor(), F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK; })));
}

} // namespace
} // namespace sidelight::fabric
