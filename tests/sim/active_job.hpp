// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datatype/builder.hpp"
#include "fabric/sim/network.hpp"
#include "rma/engine/process.hpp"
#include "world.hpp"

/// Random programs of active messages, some run within their calls beside others that are queued,
/// and what must hold of each run: every segment is run once,
/// with its own input, and its output comes back; messages that exclude one another never
/// interleave, those that keep their order do; what a flush has waited for has been run, and what
/// was issued under an exclusive lock before the next one has it; room in attached buffers is given
/// out in order (ReservationLine), and nothing of them is missing at the end; nobody waits for
/// ever, whoever dies.
namespace sidelight::sim {

/// One message of the program.
struct ActiveIssued {
    int origin = 0;
    int target = 0;
    std::uint32_t handler = 0;
    std::uint64_t segments = 0;
    std::size_t input_words = 0; ///< of a segment, at least 1
    std::size_t output_words = 0;
    bool spread_input = false; ///< at the target
    bool spread_output = false;
    bool spread_origin = false; ///< at the origin, both
    std::size_t cell = 0;       ///< the first of the target's that it is about
    std::size_t cells = 0;
    bool concurrent = false;
    bool locked = false; ///< issued while its origin has the target's exclusive lock
    rma::ActiveOrder order{};
    bool ordered = false; ///< by its window
    bool refused = false; ///< no buffer can ever hold a segment, or its target has no such handler
    bool requested = false; ///< it has a request, which its origin waits for by itself
    rma::FlushScope request_scope = rma::FlushScope::local; ///< of that

    // What has come of it.
    std::uint64_t run = 0; ///< segments
    bool inside = false;
    bool failed = false;
    std::vector<std::uint64_t> input;
    std::vector<std::uint64_t> output;
};

struct ActiveTally {
    std::uint64_t programs = 0;
    std::uint64_t messages = 0;
    std::uint64_t pieces = 0;
    std::uint64_t beside = 0;      ///< pieces that began while another one ran at the same target
    std::uint64_t failures = 0;    ///< messages that could not be run
    std::uint64_t overtaken = 0;   ///< messages that began before an earlier one to the same target
    std::uint64_t direct = 0;      ///< messages that were run within their call
    std::uint64_t died_inside = 0; ///< runs in which somebody died within such a call
    std::uint64_t left = 0;        ///< runs that another thread ended
    std::uint64_t requested = 0;   ///< messages whose requests were waited for
};

/// Whether anybody dies.
enum class ActiveDeaths : std::uint8_t { none, one };

/// Runs the program of that seed. Empty: all held; else what did not.
[[nodiscard]] std::string run_active(std::uint64_t seed, ActiveDeaths deaths, ActiveTally& tally);

} // namespace sidelight::sim
