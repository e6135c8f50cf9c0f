// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fabric/remote_memory.hpp"
#include "rma/channel/channels.hpp"
#include "rma/region/region_table.hpp"

namespace sidelight::rma {

/// A region that another member has attached, as the fabric reaches it. Offsets in its memory count
/// from its first address.
struct OpenRegion {
    AddressRange range;
    std::unique_ptr<fabric::RemoteMemory> memory;
    std::uint32_t pending = 0; ///< accesses under way
    bool forgotten = false;    ///< deleted with the last of them
};

/// The regions of members on other nodes that this one has keys to. They are fetched at first use
/// and never stale: an owner that detaches one writes into a word here, by the fabric, before its
/// call returns, and each access compares that word. See docs/design/region-keys.md. Guarded by
/// the engine, but for the words.
class OpenRegions {
public:
    explicit OpenRegions(Channels& channels) noexcept : channels_(channels) {}
    ~OpenRegions();
    OpenRegions(const OpenRegions&) = delete;
    OpenRegions& operator=(const OpenRegions&) = delete;

    /// The region that holds all of these addresses of that member. Null: it is not open; it is
    /// asked for if that may help, and the operation goes by messages.
    [[nodiscard]] OpenRegion* find(Channel& owner, AddressRange wanted) noexcept;
    /// The answer.
    void take(Channel& owner, const RegionKeyBody& body, std::span<const std::byte> key) noexcept;

    /// One access to it is over.
    static void leave(OpenRegion& region) noexcept;

    /// Whether a region of that member was ever open here. Not for fast paths.
    [[nodiscard]] bool has_opened(int rank) const noexcept;

private:
    using Regions = std::map<std::uint64_t, std::unique_ptr<OpenRegion>>; ///< by first address
    /// Written by owners of regions alone: released there with the fabric's put, acquired here.
    struct alignas(told_bytes) Page {
        std::array<std::atomic<std::uint64_t>, told_bytes / sizeof(std::uint64_t)> words{};
        fabric::ExposedMemory exposed;
        std::size_t used = 0;
    };
    struct Owner {
        Page* page = nullptr;
        std::size_t word = 0; ///< index in the page
        std::uint64_t told = 0;
        int refusals = 0;    ///< answers without a key, one after the other
        bool asked = false;  ///< and not answered
        bool closed = false; ///< it gives no keys, or nothing can be told to this member
        bool opened = false;
        Regions regions;

        [[nodiscard]] std::uint64_t told_now() const noexcept
        {
            return page->words[word].load(std::memory_order_acquire);
        }
    };

    Owner& owner_of(int rank);
    Page* page_with_room();
    void ask(Channel& owner, Owner& known, AddressRange wanted) noexcept;
    static void forget(Owner& owner) noexcept;

    Channels& channels_;
    std::unordered_map<int, Owner> owners_; ///< by rank
    std::vector<std::unique_ptr<Page>> pages_;
};

} // namespace sidelight::rma
