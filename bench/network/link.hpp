// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>

/// Two processes and a network between them, with as little else as possible.
namespace bench {

inline constexpr std::size_t big_bytes = 1024 * 1024;
inline constexpr std::size_t small_bytes = 8;

class Link {
public:
    virtual ~Link() = default;

    /// How the other process reaches this one.
    [[nodiscard]] virtual std::span<const std::byte> address() const = 0;
    virtual void connect(std::span<const std::byte> address) = 0;

    /// Sends a message of 8 bytes; it may wait for `push`.
    virtual void send_small(long value) = 0;
    virtual void push() = 0;
    /// Starts a message of 1 MB.
    virtual void start_big() = 0;
    virtual void poll() = 0;
    /// So that an end without losses is possible.
    virtual void close() = 0;

    /// Messages received so far, and what was in the small ones that were not 0.
    long small_received = 0;
    std::deque<long> values;
    long big_received = 0;
    /// Messages of 1 MB that have not left.
    int big_leaving = 0;

protected:
    void note_small(long value)
    {
        if (value != 0) {
            values.push_back(value);
        }
        ++small_received;
    }
};

/// UCX's own active messages, with no endpoint that reports errors and no batches.
std::unique_ptr<Link> open_raw_link();
/// The library's.
std::unique_ptr<Link> open_fabric_link();

} // namespace bench
