// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/operation/active_messages.hpp"
#include "rma/operation/kept_data.hpp"
#include "rma/operation/mapped.hpp"
#include "rma/operation/native.hpp"

namespace sidelight::rma {

/// Objects of operations and the room for what is kept of them, shared by the windows of a process.
struct OperationPools {
    Pool<Op> ops;
    Pool<RemoteAccess> remote_accesses;
    Pool<ActiveMessage> messages;
    KeepingRoom room;
};

/// How operations of one window are performed: at once on mapped memory, by the fabric, or as
/// messages. Guarded by the engine.
class Operations {
public:
    /// Everything but the operation itself that performing it needs.
    struct Parts {
        Target* targets;
        int rank; ///< of this member
        OwnMemory& memory;
        Mapped& mapped;
        Accumulates& accumulates;
        Channels& channels;
        Origin& origin;
        NativeAccesses& native;
        OperationLife& life;
        ActiveMessages& active;
        OperationPools& pools;
    };
    explicit Operations(const Parts& parts) noexcept : with_(parts) {}

    /// Checks the operation against the window and finds where it goes. `granted`: it may be
    /// performed now.
    Status prepare(const Operation& operation, bool granted,
                   Destination& destination) const noexcept;

    /// Performs it, if that takes no longer than the call; `done` says whether it has.
    Status perform_at_once(const Operation& operation, Destination& destination,
                           bool& done) noexcept;

    /// Sends one that may begin and needs no record: see Origin::join. Answers whether it has; its
    /// request, which waits for no more than the origin's side, is its caller's to complete.
    [[nodiscard]] bool join(const Operation& operation, const Destination& destination,
                            const Epoch& epoch, std::uint32_t peer) noexcept;
    /// One that is to be performed later, with an age. Null: no memory.
    [[nodiscard]] Op* record(const Operation& operation, const Destination& destination,
                             Request* request) noexcept;
    /// Its turn has come. It may be complete, and gone, on return. What is attached to a dynamic
    /// window may have changed since it was recorded.
    void execute(Op& op) noexcept;
    /// The same where it has just been prepared.
    void execute_at(Op& op, const Destination& destination) noexcept;
    /// It is not performed, and why; or it has been, by somebody else. Gone on return.
    void conclude(Op& op, Status status) noexcept;
    /// It is complete, and nobody needs it any more.
    void retire(Op& op) noexcept;

    /// The position of the latest operation that was recorded or moved by the fabric.
    [[nodiscard]] std::uint64_t age() const noexcept { return ages_; }
    /// The program waits for all that was issued, or says that it will.
    void note_waited_for() noexcept { waited_for_ = ages_; }
    /// Operations recorded or in flight now.
    [[nodiscard]] std::size_t unfinished() const noexcept { return unfinished_; }

private:
    [[nodiscard]] bool runs_here(const Operation& operation,
                                 const Destination& destination) const noexcept;
    Status perform_mapped(const Operation& operation, std::byte* base) noexcept;
    [[nodiscard]] bool must_keep_order(const Operation& operation) const noexcept;

    Parts with_;
    std::uint64_t ages_ = 0;
    std::uint64_t waited_for_ = 0; ///< up to that age they were flushed, or their epoch was closed
    std::size_t unfinished_ = 0;
};

} // namespace sidelight::rma
