// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "base/doorbell.hpp"
#include "base/status.hpp"

namespace sidelight::fabric {

/// Header and payload of a message that goes by `send`, together at most.
inline constexpr std::size_t max_message = 8000;

/// Who takes the messages that a fabric delivers: the engine of one process. Called from within
/// `Fabric::poll` alone.
class Receiver {
public:
    /// A message. `message` is valid during the call only. May send.
    virtual void receive(int from, std::span<const std::byte> message) noexcept = 0;

    /// A zero-copy message comes: `header` is here, valid during the call only, and `bytes` of
    /// payload follow. Answers where they are to be written, or null: then they are thrown away
    /// and `placed` is not called. May send.
    virtual std::byte* place(int from, std::span<const std::byte> header,
                             std::size_t bytes) noexcept = 0;

    /// All of the payload of a zero-copy message is where `place` wanted it. The same header. May
    /// send.
    virtual void placed(int from, std::span<const std::byte> header,
                        std::size_t bytes) noexcept = 0;

    /// The peer cannot be reached any more. Told once, of peers that messages were sent to or have
    /// come from, also of one that is lost when it is first sent to. Nothing more comes from it,
    /// nothing is written any more where `place` has wanted it, and what is sent to it vanishes.
    virtual void lost(int peer) noexcept = 0;

protected:
    ~Receiver() = default;
};

/// Something that the fabric has been asked to do and that is over later. Owned by the caller and
/// kept by the fabric until `finished` has been called, once: from within `poll` or `push`, never
/// from within the call that started it.
struct Completion {
    /// Not ok: the peer is lost, and the receiver is told so; or an access was refused in part.
    void (*finished)(Completion& self, Status status) noexcept = nullptr;
    /// Of a put to a peer's memory: what it reads here may be used again. At most once, before
    /// `finished`, and from within the same; a fabric may leave it out. Null: nobody asks.
    void (*left)(Completion& self) noexcept = nullptr;
};

class RemoteMemory;

/// The most bytes that a key to memory has.
inline constexpr std::size_t max_key = 1024;

/// Memory of this process that peers may read and write by themselves. Belongs to whoever has
/// exposed it.
struct ExposedMemory {
    std::array<std::byte, max_key> key; ///< what a peer needs to open it: plain bytes
    std::size_t key_bytes = 0;          ///< 0: it is not exposed
    void* memory = nullptr;             ///< the fabric's
};

/// How messages move between processes, as one process sees it. Memory that is mapped needs no
/// fabric to be read and written; `wake` is all that it asks of one.
///
/// Peers are numbered by the fabric; the number of a window's member is in its Target.
/// Contract: messages that `send` takes for one peer arrive once, whole, in the order sent. A
/// zero-copy message arrives once and whole; others that were sent after it may overtake it.
/// Nothing blocks. All calls come from the thread that holds the engine.
class Fabric {
public:
    virtual ~Fabric() = default;

    /// Sends `header` and `payload` as one message. Both may be reused when the call returns. The
    /// fabric may hold it back, to send it together with others, until `push`. Not ok: it never
    /// arrives. Whoever sent it takes the peer for lost, and the fabric ends its connection, so
    /// that the peer, and whoever else has to do with it here, hears of that.
    virtual Status send(int peer, std::span<const std::byte> header,
                        std::span<const std::byte> payload) noexcept = 0;

    /// Whatever is held back leaves.
    virtual void push() noexcept = 0;

    /// Sends a message with a payload of any length, which the receiver says where to place. The
    /// header may be reused when the call returns, the payload when `sent` has finished. Not ok: as
    /// for `send`, and `sent` is not used.
    virtual Status send_zero_copy(int peer, std::span<const std::byte> header,
                                  std::span<const std::byte> payload,
                                  Completion& sent) noexcept = 0;

    /// Data of fewer bytes are there sooner as messages of `send`, copied: a zero-copy one leaves
    /// by itself, and is answered by itself.
    [[nodiscard]] virtual std::size_t zero_copy_from(int /*peer*/) const noexcept { return 0; }

    /// Hands what has arrived to the receiver, or some of it; so many calls in a row all that had
    /// arrived before the first. Answers whether there was anything.
    static constexpr int polls_for_all = 4;
    virtual bool poll(Receiver& receiver) noexcept = 0;

    /// Whether a message is here that the next poll hands over, as far as one look at memory tells.
    [[nodiscard]] virtual bool has_come() const noexcept { return false; }

    /// Whether the next message is likely soon and a poll for it takes next to no time.
    [[nodiscard]] virtual bool is_close() const noexcept { return false; }

    /// The doorbell where that process sleeps, if it is mapped here: `publish` there spares the
    /// caller the atomic instruction and `wake`. It stays as long as the fabric.
    [[nodiscard]] virtual Doorbell* bell_of(int /*peer*/) noexcept { return nullptr; }

    /// A word that `peer` polls in shared memory has just been written by an atomic
    /// read-modify-write: if that process sleeps, it is woken; and if its program computes, and it
    /// has recorded work for this event, its thread.
    virtual void wake(int peer, const Event& event) noexcept
    {
        if (Doorbell* bell = bell_of(peer); bell != nullptr) {
            bell->ring(event);
        }
    }

    /// The same for all who sleep at a doorbell that several processes share.
    virtual void wake_all(Doorbell& bell) noexcept { bell.ring(); }

    // --- Memory of peers that is read and written without their engines; not every fabric can ---

    /// Whether memory of that peer may be opened, as far as is known: the answer may become true
    /// after something has been sent to it.
    [[nodiscard]] virtual bool accesses(int /*peer*/) noexcept { return false; }

    /// Peers that have the key may read and write it, until it is concealed. It has some bytes, and
    /// stays where it is. Answers whether that works.
    virtual bool expose(std::span<std::byte> /*memory*/, ExposedMemory& /*exposed*/) noexcept
    {
        return false;
    }
    /// Nobody accesses it any more. Whoever does it nevertheless is lost.
    virtual void conceal(ExposedMemory& /*exposed*/) noexcept {}

    /// What a peer has exposed; offsets count from its begin. Null: that key opens nothing. To be
    /// destroyed when no access is pending, and before the fabric.
    virtual std::unique_ptr<RemoteMemory> open(int peer, std::span<const std::byte> key) noexcept;
};

} // namespace sidelight::fabric
