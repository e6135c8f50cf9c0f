// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "base/log.hpp"
#include "rma/process.hpp"
#include "rma/window.hpp"

/// The words and the lock queue of this member, for those that cannot reach them: members on other
/// nodes, for which messages say what they would write.
namespace sidelight::rma {

namespace {

/// A counter comes message by message, in order: its next value is the only right one.
void raise(std::atomic<std::uint64_t>& word, std::uint64_t number) noexcept
{
    if (word.load(std::memory_order_relaxed) + 1 == number) {
        word.store(number, std::memory_order_release);
    }
}

LockType lock_type_of(const MessageHeader& header) noexcept
{
    return header.flag == static_cast<std::uint8_t>(LockType::shared) ? LockType::shared
                                                                      : LockType::exclusive;
}

} // namespace

void Window::receive_word(const MessageHeader& header) noexcept
{
    const auto origin = static_cast<int>(header.origin);
    Target& sender = targets_[origin];
    if (sender.control != nullptr) {
        return; // it writes them itself
    }
    switch (header.kind) {
    case MessageKind::grant:
        raise(own().words(origin).granted, header.number);
        break;
    case MessageKind::done:
        serve_done(header);
        break;
    case MessageKind::lock:
        serve_lock(header);
        break;
    case MessageKind::lock_grant:
        if (sender.lock_grants + 1 == header.number && header.number <= sender.lock_requests) {
            sender.lock_grants = header.number;
        }
        break;
    case MessageKind::unlock:
        serve_unlock(header);
        break;
    default:
        break;
    }
}

/// Takes a place in this member's queue for an origin that cannot reach it.
void Window::serve_lock(const MessageHeader& header) noexcept
{
    Waiting* waiting = process_.waiting_.take();
    if (waiting == nullptr) {
        log(LogLevel::error, "out of memory for a lock that rank %u asks for", header.origin);
        part_from(static_cast<int>(header.origin));
        return;
    }
    const LockType type = lock_type_of(header);
    *waiting = {
        .origin = static_cast<int>(header.origin), .type = type, .place = own().lock.arrive(type)};
    waiting_.push(waiting);
    update_busy();
}

/// The sender is done with its next access, as soon as the long puts before the word are placed.
void Window::serve_done(const MessageHeader& header) noexcept
{
    const auto origin = static_cast<int>(header.origin);
    Target& sender = targets_[origin];
    const std::uint64_t done = own().words(origin).done.load(std::memory_order_relaxed);
    if (header.number != done + sender.accesses_announced + 1) {
        return;
    }
    ++sender.accesses_announced;
    sender.behind = static_cast<std::uint32_t>(header.round);
    let_words_count(origin);
}

/// Leaves a place of the sender's, if it has been told of one; at once or likewise.
void Window::serve_unlock(const MessageHeader& header) noexcept
{
    const auto origin = static_cast<int>(header.origin);
    Target& sender = targets_[origin];
    const LockType type = lock_type_of(header);
    if (header.number != 0) {
        owe(origin);
    }
    if (sender.places_of(type) != 0) {
        --sender.places_of(type);
        ++sender.leaving[static_cast<int>(type)];
        sender.behind = static_cast<std::uint32_t>(header.round);
        let_words_count(origin);
    }
}

/// A long put is in memory, or will never be.
void Window::long_taken(const MessageHeader& header) noexcept
{
    const auto origin = static_cast<int>(header.origin);
    targets_[origin].longs_taken.take(static_cast<std::uint32_t>(header.number));
    let_words_count(origin);
}

/// The words that came from that member so far count, if nothing that was sent before the latest of
/// them is still missing. Earlier ones wait for that, too: what they miss comes by itself.
void Window::let_words_count(int origin) noexcept
{
    Target& sender = targets_[origin];
    if (!rules::word_counts(sender.behind, sender.longs_taken.whole())) {
        return;
    }
    if (const std::uint32_t more = std::exchange(sender.accesses_announced, 0); more != 0) {
        std::atomic<std::uint64_t>& done = own().words(origin).done;
        done.store(done.load(std::memory_order_relaxed) + more, std::memory_order_release);
    }
    for (const LockType type : {LockType::shared, LockType::exclusive}) {
        std::uint32_t& leaving = sender.leaving[static_cast<int>(type)];
        for (; leaving != 0; --leaving) {
            leave_lock(own(), type);
        }
    }
}

/// Answers whether the place was left at once, its owner being lost.
bool Window::admit(const Waiting& waiting) noexcept
{
    Target& owner = targets_[waiting.origin];
    if (owner.lost) {
        own().lock.depart(waiting.type);
        return true;
    }
    MessageHeader header;
    header.kind = MessageKind::lock_grant;
    header.number = ++owner.admitted;
    ++owner.places_of(waiting.type);
    send(waiting.origin, header);
    return false;
}

/// Tells those who are admitted. A process's places are admitted in the order in which it asked.
bool Window::grant_waiting() noexcept
{
    if (waiting_.empty()) {
        return false;
    }
    bool granted = false;
    bool left = false;
    waiting_.remove_if([&](Waiting& waiting) {
        if (!own().lock.admits(waiting.type, waiting.place)) {
            return false;
        }
        left |= admit(waiting);
        process_.waiting_.give_back(&waiting);
        granted = true;
        return true;
    });
    update_busy();
    if (left) { // the next may be admitted now
        wake_members();
        grant_waiting();
    }
    return granted;
}

} // namespace sidelight::rma
