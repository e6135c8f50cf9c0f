// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/arming.hpp"
#include "base/system_limits.hpp"
#include "fabric/fabric.hpp"
#include "fabric/fast_box.hpp"
#include "fabric/peer_numbers.hpp"

namespace sidelight::fabric {

/// A fabric between processes that share nothing. It has an address, which whoever makes windows
/// carries to the other members, and it can be slept at.
///
/// A peer may be sent to before it has been met: the messages wait until it is. One that has not
/// been met may send, too; it is numbered then.
class NetworkFabric : public Fabric {
public:
    /// How others reach this process. Plain bytes, the same as long as the fabric lives.
    [[nodiscard]] virtual std::span<const std::byte> address() const noexcept = 0;

    /// The number of the process with that identity, which is reached at `address`; the connection
    /// is made by the first message to it. Throws std::bad_alloc.
    virtual int meet(std::uint64_t identity, std::span<const std::byte> address) = 0;

    /// Whether peers of this node are worth a box.
    [[nodiscard]] virtual bool wants_boxes() const noexcept = 0;

    /// Small messages to that peer may go by this box, to the inbox that its network was opened
    /// with. Whoever sends them wakes it: `event_fd` tells nothing of them.
    virtual void use_box(int peer, FastOutbox box) = 0;

    /// That process has ended, as somebody else has found out: it is lost.
    virtual void note_end(int peer) noexcept = 0;

    /// Readable when something has happened since it was armed, or sometimes for no reason.
    [[nodiscard]] virtual int event_fd() const noexcept = 0;

    /// The next poll looks at everything, also at what is looked at less often while boxes bring
    /// messages: somebody is about to sleep.
    virtual void look_everywhere() noexcept = 0;

    /// Prepares `event_fd` for a sleeper. Once per sleep: an event is told by one `arm` only. The
    /// log says why it is refused.
    [[nodiscard]] virtual Arming arm() noexcept = 0;

    /// Sends what is held back, waits until everything has left, for `limit` at most, and ends all
    /// connections; what arrives meanwhile goes to `receiver`. Then only the destructor may follow.
    /// Messages that a peer has sent and this process has not polled are lost, so processes agree
    /// beforehand that they are done. Answers whether all has left.
    virtual bool close(Receiver& receiver, std::chrono::nanoseconds limit) noexcept = 0;

    /// What carries the messages, for people: library, version, transports.
    [[nodiscard]] virtual std::string description() const = 0;
};

/// How the network is opened.
struct NetworkOptions {
    std::string transports = "auto"; ///< as UCX_TLS; auto: as UCX decides
    bool always_access = false;      ///< memory of peers is opened also where UCX accesses it by
                                     ///< messages of its own: for tests
    FastInbox* inbox = nullptr;      ///< where peers of this node leave small messages; outlives it
    std::string library = "auto";    ///< path of libucp.so.0; auto: the one that the loader finds
};

/// What this process lacks at present to begin one: it is not tried then. Empty: nothing.
[[nodiscard]] ReasonText lack_for_network() noexcept;

/// The fabric of the networks that UCX knows. Null, with the reason in the log, where the library
/// was built without UCX's headers or UCX cannot be loaded or started.
/// `numbers` must outlive it. Throws std::bad_alloc.
[[nodiscard]] std::unique_ptr<NetworkFabric> open_network(PeerNumbers& numbers,
                                                          const NetworkOptions& options);

} // namespace sidelight::fabric
