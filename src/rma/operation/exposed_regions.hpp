// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fabric/remote_memory.hpp"
#include "rma/channel/channels.hpp"
#include "rma/region/own_memory.hpp"
#include "rma/request.hpp"

namespace sidelight::rma {

/// The attached regions of this member that others have keys to. A detach withdraws the key: it
/// tells those who have it, by a number that the fabric writes into their memory, and waits for the
/// fabric alone. See docs/design/region-keys.md. Guarded by the engine.
class ExposedRegions {
public:
    ExposedRegions(Channels& channels, OwnMemory& memory) noexcept
        : channels_(channels), memory_(memory)
    {}
    ~ExposedRegions();
    ExposedRegions(const ExposedRegions&) = delete;
    ExposedRegions& operator=(const ExposedRegions&) = delete;

    /// Exposes the region when the first one asks, and answers with its key.
    void serve(Channel& from, const RegionRequestBody& body,
               std::span<const std::byte> key) noexcept;

    /// The region that began there was detached. `request` completes when nobody uses its key any
    /// more, and it opens nothing.
    void withdraw(const std::byte* base, Request* request) noexcept;

private:
    /// Who has keys: the word in its memory that it compares, and what was written there last.
    struct Holder {
        std::unique_ptr<fabric::RemoteMemory> words;
        std::uint64_t word = 0;
        std::uint64_t told = 0;
    };
    struct Region;
    /// To one who has the key.
    struct Withdrawal : fabric::Completion {
        ExposedRegions* owner = nullptr;
        Region* region = nullptr;
        Holder* holder = nullptr;
        std::uint64_t number = 0; ///< is written
    };
    struct Region {
        fabric::ExposedMemory exposed;
        std::unordered_map<int, Withdrawal> keys; ///< by rank of those who have one
        Request* detached = nullptr;
        std::size_t untold = 0;
    };

    Holder* holder_of(Channel& from, const RegionRequestBody& body, std::span<const std::byte> key);
    Region& expose(AddressRange range);
    void give_up(int rank) noexcept;
    void end_if_told(Region& region) noexcept;
    static void told(fabric::Completion& self, Status status) noexcept;

    Channels& channels_;
    OwnMemory& memory_;
    std::map<std::uint64_t, std::unique_ptr<Region>> regions_; ///< by first address
    std::unordered_map<int, Holder> holders_;                  ///< by rank
};

} // namespace sidelight::rma
