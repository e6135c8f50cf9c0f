// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "fabric/remote_memory.hpp"
#include "rma/channel/origin.hpp"
#include "rma/operation/destination.hpp"
#include "rma/operation/exposed_regions.hpp"
#include "rma/operation/open_regions.hpp"

namespace sidelight::rma {

class NativeAccesses;

/// An operation that the fabric performs on the target's memory.
struct RemoteAccess : fabric::Completion {
    NativeAccesses* owner = nullptr;
    Op* op = nullptr;
    Target* target = nullptr;
    Channel* channel = nullptr; ///< to it, for what the fabric cannot do
    std::size_t address = 0;
    fabric::RemoteMemory* memory = nullptr;
    OpenRegion* region = nullptr; ///< of a dynamic window, where that is its memory
    datatype::Cursor there{{nullptr, nullptr, 0}}; ///< over offsets in place of addresses
    datatype::Cursor here{{nullptr, nullptr, 0}};
    RemoteAccess* next = nullptr;
};

/// The native route: puts and gets that the fabric performs on the target's memory, without the
/// target's engine, and the keys that it takes. See docs/design/native-route.md. Guarded by the
/// engine.
class NativeAccesses {
public:
    NativeAccesses(Channels& channels, Origin& origin, OperationLife& life, OwnMemory& memory,
                   Pool<RemoteAccess>& pool) noexcept
        : channels_(channels),
          origin_(origin),
          life_(life),
          memory_(memory),
          pool_(pool),
          open_regions_(channels),
          exposed_regions_(channels, memory)
    {}
    ~NativeAccesses();
    NativeAccesses(const NativeAccesses&) = delete;
    NativeAccesses& operator=(const NativeAccesses&) = delete;

    /// Whether the fabric has taken the operation over; it may be complete, and gone. What is not
    /// taken goes by messages. `alone`: somebody may wait for this one by itself.
    [[nodiscard]] bool start(Op& op, Target& target, Channel& channel,
                             const Destination& destination, bool alone) noexcept;

    /// A block that the fabric moves within the call is complete on return, as on mapped memory:
    /// nothing is recorded for it. Where that fails, `destination` says that it goes by messages.
    [[nodiscard]] bool move_at_once(const Operation& operation, const Target& target,
                                    Destination& destination, bool alone) noexcept;

    // Keys, asked for by message.
    void serve_key(Channel& from) noexcept;
    void take_key(Channel& from, Target& target, std::span<const std::byte> key) noexcept;
    // The same for regions of dynamic windows.
    [[nodiscard]] OpenRegions& open_regions() noexcept { return open_regions_; }
    [[nodiscard]] ExposedRegions& exposed_regions() noexcept { return exposed_regions_; }

private:
    /// Where an operation goes that the fabric performs. Null memory: it goes by messages.
    struct Reached {
        fabric::RemoteMemory* memory = nullptr;
        std::size_t offset = 0; ///< in it
        OpenRegion* region = nullptr;
    };
    Reached reach(const Operation& operation, Target& target, Channel& channel,
                  const Destination& destination) noexcept;
    void give_back(RemoteAccess& access) noexcept;
    void ask_for_key(Target& target, Channel& channel) noexcept;
    static fabric::Access move_more(RemoteAccess& access) noexcept;
    static void left(fabric::Completion& self) noexcept;
    static void finished(fabric::Completion& self, Status status) noexcept;

    Channels& channels_;
    Origin& origin_;
    OperationLife& life_;
    OwnMemory& memory_;
    Pool<RemoteAccess>& pool_;
    std::vector<std::unique_ptr<fabric::RemoteMemory>> opened_; ///< memory of other members
    std::unique_ptr<fabric::ExposedMemory> exposed_; ///< this member's, since somebody asked
    OpenRegions open_regions_;
    ExposedRegions exposed_regions_;
};

} // namespace sidelight::rma
