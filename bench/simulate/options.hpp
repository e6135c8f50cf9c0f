// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "fabric/sim/network.hpp"

/// What is simulated, as the command line says it.
namespace sidelight::simulate {

/// The machine: what messages cost (LogGP), and what is around them.
struct Machine {
    fabric::sim::Costs costs{.full_percent = 0}; ///< messages leave with the call that sent them
    fabric::sim::Time call = 100;                ///< ns of the processor that a call takes
    fabric::sim::Time copy_ps = 250; ///< a byte that is copied from process to process of a node
    fabric::sim::Time peer = 8;      ///< of a sweep, for each peer of an epoch that waits for some
    fabric::sim::Time mflops = 1000; ///< of a processor, in products of a number and a row
    int node = 1;                    ///< ranks of a node, who map each other's memory
    fabric::sim::Time interrupt = 5000;  ///< ns of a processor: a sleeping thread is woken
    fabric::sim::Time slice = 3'000'000; ///< ns for which one of several on a processor has it
};

struct Options {
    Machine machine;
    int ranks = 64;
    int transactions = 500; ///< of each rank
    int pending = 64;       ///< epochs that may be closed and not complete; 1: standard calls
    bool key = false;       ///< A_A_A_R
    std::uint64_t seed = 1;
    std::string trace{}; ///< the folder of its trace; without a name there is none
};

/// Active messages of all ranks but the last one to that.
struct ActiveOptions {
    Machine machine;
    int ranks = 2;
    int messages = 100; ///< of each origin
    std::uint64_t segments = 100;
    std::size_t bytes = 20; ///< of a segment, each way
    bool mixed = false;     ///< every second message is one of 10 segments of 4,800 bytes
    std::uint64_t unit = 40;
    std::size_t internal = 8192;
    std::size_t attached = 65536;
    fabric::sim::Time call = 100;   ///< ns that a call of a handler takes
    fabric::sim::Time segment = 30; ///< ns that it takes for a segment
    fabric::sim::Time between = 0;  ///< ns that an origin computes behind each message
    bool concurrent = false;
    bool unordered = false;
    bool one_at_a_time = false; ///< each is complete before the next one is issued
    std::uint64_t seed = 1;
};

/// How a program communicates.
enum class LuWay {
    lazy,        ///< all of an epoch happens in the call that closes it
    standard,    ///< standard calls
    nonblocking, ///< nonblocking epochs and all reorder keys
};

/// LU decomposition by rows in turn.
struct LuOptions {
    Machine machine;
    int ranks = 64;
    int rows = 1024; ///< and columns
    int slots = 16;  ///< rows that may be on their way to one rank, or from it
    LuWay way = LuWay::standard;
    std::uint64_t seed = 1;
    std::string trace{}; ///< the folder of its trace; without a name there is none
};

/// Who moves operations on while an origin works.
enum class Mover {
    nobody,     ///< its next call
    polling,    ///< a thread of each process that polls all the time
    interrupts, ///< a thread that is woken for what is recorded
};

/// Epochs of two nodes.
struct ProgressOptions {
    Machine machine;
    int ranks = 2;      ///< half of them origins, on a node of their own
    int processors = 0; ///< of a node; 0: one for each rank
    bool fence = false; ///< else post, start, complete, wait
    bool many = false;  ///< each origin goes to all targets, else to one
    bool get = false;
    std::size_t bytes = 1 << 20;
    fabric::sim::Time work = 0; ///< ns of each origin, in each epoch
    fabric::sim::Time late = 0; ///< ns that each target is late
    int epochs = 10;
    Mover mover = Mover::interrupts;
    std::uint64_t seed = 1;
};

/// In which epochs the puts of a large window are.
enum class ScaleWay {
    lock,     ///< a shared lock epoch for each
    lock_all, ///< one lock_all epoch, on a window without exclusive locks
};

/// A window of many members, some of which put.
struct ScaleOptions {
    Machine machine;
    int members = 100'000;
    int peers = 16;  ///< that a process puts to, in turn
    int epochs = 16; ///< lock epochs of a process, all pending; or puts of its lock_all epoch
    ScaleWay way = ScaleWay::lock;
};

/// Makes it the value whose name, in the order of the values, is that word. False: there is none.
template <class Value, std::size_t count>
[[nodiscard]] bool read_name(std::string_view word, const char *const (&names)[count], Value& value)
{
    for (std::size_t index = 0; index < count; ++index) {
        if (word == names[index]) {
            value = static_cast<Value>(index);
            return true;
        }
    }
    return false;
}

/// Reads lines `NAME NUMBER`; `#` begins a comment. Throws std::runtime_error with what is wrong.
Machine read_machine(const char *path);

} // namespace sidelight::simulate
