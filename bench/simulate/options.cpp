// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace sidelight::simulate {

namespace {

/// Whether there is a parameter of that name.
bool set(Machine& machine, const std::string& name, std::uint64_t value)
{
    const struct {
        const char *name;
        fabric::sim::Time& place;
    } times[] = {{"latency_ns", machine.costs.latency},
                 {"overhead_ns", machine.costs.overhead},
                 {"gap_ns", machine.costs.gap},
                 {"byte_ps", machine.costs.byte_ps},
                 {"wake_ns", machine.costs.wake},
                 {"call_ns", machine.call},
                 {"copy_ps", machine.copy_ps},
                 {"peer_ns", machine.peer},
                 {"interrupt_ns", machine.interrupt},
                 {"slice_ns", machine.slice},
                 {"mflops", machine.mflops}};
    for (const auto& time : times) {
        if (name == time.name) {
            time.place = value;
            return true;
        }
    }
    if (name == "express_bytes") {
        machine.costs.express = value;
        return true;
    }
    if (name == "node" && value > 0 && value <= 1U << 20U) {
        machine.node = static_cast<int>(value);
        return true;
    }
    return false;
}

} // namespace

Machine read_machine(const char *path)
{
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error(std::string(path) + ": cannot be read");
    }
    Machine machine;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string name;
        std::string rest;
        std::uint64_t value = 0;
        if (words >> name && (!(words >> value) || words >> rest || !set(machine, name, value))) {
            throw std::runtime_error(std::string(path) + ":" + std::to_string(number) +
                                     ": not a parameter and its number: " + line);
        }
    }
    return machine;
}

} // namespace sidelight::simulate
