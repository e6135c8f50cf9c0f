// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/attention.hpp"
#include "rma/channel/channels.hpp"

namespace sidelight::rma {

/// How much may be sent to one target and not be answered. What is more waits at the origin, so a
/// target that is late is not buried in data: 4 MB at a time, 2 of small ones.
struct CreditLimits {
    std::uint32_t most = 512;        ///< fragments
    std::uint32_t most_small = 4096; ///< where all are small
    std::size_t small = 512;         ///< bytes of data, at most
    /// Fragments without an acknowledgement asked for, at most; fewer than `most`: what waits for
    /// others to be answered is never waiting for who would ask.
    std::uint32_t unasked = 128;
};

/// Fragments of operations that bring nothing back have no answers of their own: the target counts
/// those that it has performed, and acknowledges so many when it is asked. Both sides count alike,
/// since fragments come in order. Who waits for completion at the target asks. Guarded by the
/// engine.
class Credit {
public:
    Credit(Channels& channels, Attention& attention, const CreditLimits& limits) noexcept
        : channels_(channels), attention_(attention), limits_(limits)
    {}

    // --- As origin -------------------------------------------------------------------------------
    /// A fragment with so many bytes of data is about to be sent, and is in flight from now on.
    void use(Channel& target, std::size_t bytes) const noexcept;
    /// Whether another one may be sent, though those that were are not answered.
    [[nodiscard]] bool is_left(const Channel& target) const noexcept;
    /// Something was sent there. Says whether much of the credit is used.
    void note_sent(const Channel& target) const noexcept
    {
        constexpr std::uint32_t part = 4;
        channels_.carrier().set_credit_scarce(target.in_flight * part > most(target));
    }
    /// A fragment without an answer of its own is about to be sent, the last of its operation or
    /// not. Answers whether it is to ask for the acknowledgement.
    [[nodiscard]] bool count(Flight& flight, bool last) noexcept;
    /// Somebody waits for completion at the targets: asks those that have not been.
    void request_all() noexcept;
    /// Something waits for completion at that target. Answers whether it had to be asked.
    bool request(Channel& target) noexcept;
    /// Whether a flush is under way: what is sent from now on asks, and joins nothing that it waits
    /// for (Origin::join). Set before anything is issued behind it.
    void set_awaited(bool awaited) noexcept { awaited_ = awaited; }
    [[nodiscard]] bool is_awaited() const noexcept { return awaited_; }
    void request_if_awaited() noexcept
    {
        if (awaited_) {
            request_all();
        }
    }
    /// The target has acknowledged so many. Answers whether that can be.
    [[nodiscard]] static bool take(Channel& target, std::uint32_t fragments) noexcept;
    [[nodiscard]] static bool acknowledged(const Channel& target, std::uint32_t fragment) noexcept;
    /// A notice to that target leaves that may ask for it. Answers whether it is to.
    [[nodiscard]] static bool ask_along(Channel& target) noexcept;

    // --- As target -------------------------------------------------------------------------------
    /// The origin is told at the end of the sweep.
    void owe(Channel& origin) noexcept;
    /// Tells all who are owed. Answers whether there were any.
    bool tell_owed() noexcept;

private:
    [[nodiscard]] std::uint32_t most(const Channel& target) const noexcept
    {
        return target.large_in_flight ? limits_.most : limits_.most_small;
    }

    Channels& channels_;
    Attention& attention_;
    CreditLimits limits_;
    Channel* unrequested_ = nullptr; ///< the first to be asked
    Channel* owed_ = nullptr;        ///< the first to be told
    bool awaited_ = false;
};

} // namespace sidelight::rma
