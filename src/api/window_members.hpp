// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/mapped/mapped_fabric.hpp"
#include "host/node/memory.hpp"
#include "rma/members.hpp"

namespace sidelight::api {

/// What the members of a window tell each other.
struct Greeting {
    fabric::PeerAddress peer;
    std::uint64_t disp_unit = 1;
    std::uint64_t window = 0; ///< of rank 0: the window's id
    bool ready = false;       ///< this member has all that it needs
};

/// The members of a window whose memory is all on this node.
class WindowMembers final : public rma::Members {
public:
    /// `memory` must outlive it.
    WindowMembers(host::node::NodeMemory& memory, std::vector<Greeting> greetings,
                  fabric::MappedFabric& fabric);

    /// This process brings the memory of its own part.
    void bring(int rank, std::byte* base, std::size_t size) noexcept;

    Status find(int rank, rma::Member& found) noexcept override;

    /// All ranks: they are neighbours.
    [[nodiscard]] const std::vector<std::int32_t>& ranks() const noexcept { return ranks_; }

private:
    host::node::NodeMemory& memory_;
    std::vector<Greeting> greetings_;
    fabric::MappedFabric& fabric_;
    std::vector<std::int32_t> ranks_;
    int bringer_ = -1;
    std::byte* brought_ = nullptr;
    std::size_t brought_size_ = 0;
};

} // namespace sidelight::api
