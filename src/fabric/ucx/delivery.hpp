// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fabric/fabric.hpp"

namespace sidelight::fabric::ucx {

/// The receiver of the poll under way, and whether it is being called. While it is, nothing else is
/// handed over to it; and UCX, which may have called its handler that calls it, is asked neither
/// for connections nor for flushes.
class Delivery {
public:
    void begin(Receiver& receiver) noexcept { receiver_ = &receiver; }
    void end() noexcept { receiver_ = nullptr; }

    /// Whether something may be handed over now.
    [[nodiscard]] bool is_possible() const noexcept { return receiver_ != nullptr && !busy_; }
    [[nodiscard]] bool is_busy() const noexcept { return busy_; }

    /// While polling.
    [[nodiscard]] Receiver& receiver() const noexcept { return *receiver_; }

    /// While one of these lives, the receiver is being called.
    class Call {
    public:
        explicit Call(Delivery& delivery) noexcept : delivery_(delivery) { delivery_.busy_ = true; }
        ~Call() { delivery_.busy_ = false; }
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;

        [[nodiscard]] Receiver* operator->() const noexcept { return delivery_.receiver_; }

    private:
        Delivery& delivery_;
    };

private:
    Receiver* receiver_ = nullptr;
    bool busy_ = false;
};

} // namespace sidelight::fabric::ucx
