// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/pool.hpp"
#include "fabric/fabric.hpp"
#include "rma/channel/channel.hpp"
#include "rma/region/region_name.hpp"

namespace sidelight::rma {

class Channels;
class Origin;
class OwnMemory;

/// A zero-copy message that is leaving.
struct ZeroCopySend : fabric::Completion {
    Channels* channels = nullptr;
    Origin* origin = nullptr;      ///< of the operation whose fragment it is; null: an answer
    Flight* flight = nullptr;      ///< likewise
    OwnMemory* memory = nullptr;   ///< of an answer: what is read
    RegionName region = no_region; ///< likewise, where it is one that a memory handle names
    ZeroCopySend* next = nullptr;
};

/// This process's end of the fabric, shared by its windows: what leaves when, and the objects that
/// messages need while they are under way. Guarded by the engine.
class Carrier {
public:
    explicit Carrier(fabric::Fabric& fabric) noexcept : fabric_(fabric) {}

    [[nodiscard]] fabric::Fabric& fabric() noexcept { return fabric_; }
    [[nodiscard]] Flights& flights() noexcept { return flights_; }
    [[nodiscard]] Pool<ZeroCopySend>& zero_copy_sends() noexcept { return zero_copy_sends_; }
    [[nodiscard]] Pool<Channel>& channels() noexcept { return channels_; }

    /// Something was sent, and is to leave with the next `push`.
    void note_sent() noexcept
    {
        unpushed_ = true;
        held_ = true;
    }
    /// Something was sent that the next `push_all` takes along.
    void note_held() noexcept { held_ = true; }
    /// Whether what was sent since the last push must leave with the next one.
    [[nodiscard]] bool unpushed() const noexcept { return unpushed_; }
    void set_unpushed(bool unpushed) noexcept { unpushed_ = unpushed; }
    /// Nobody knows when this process sweeps next: what is held back leaves with the next push.
    void let_leave() noexcept { unpushed_ = unpushed_ || held_; }

    /// Whether so much is unanswered where something was sent last that answers are worth a look,
    /// lest what is issued from now on has to be recorded.
    [[nodiscard]] bool credit_is_scarce() const noexcept { return credit_scarce_; }
    void set_credit_scarce(bool scarce) noexcept { credit_scarce_ = scarce; }

    /// Lets leave what must not be held back.
    void push() noexcept
    {
        if (unpushed_) [[unlikely]] {
            push_all();
        }
    }
    /// The same with what may be.
    void push_held() noexcept
    {
        if (held_) {
            push_all();
        }
    }

private:
    void push_all() noexcept
    {
        unpushed_ = false;
        held_ = false;
        fabric_.push();
    }

    fabric::Fabric& fabric_;
    bool unpushed_ = false; ///< something was sent that must not be held back
    bool held_ = false;     ///< something was sent since the last push
    bool credit_scarce_ = false;
    Flights flights_;
    Pool<ZeroCopySend> zero_copy_sends_;
    Pool<Channel> channels_;
};

} // namespace sidelight::rma
