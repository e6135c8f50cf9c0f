// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/sim/trace.hpp"

#include <cinttypes>
#include <initializer_list>

namespace sidelight::fabric::sim {

void Trace::print(std::FILE* out) const
{
    for (std::size_t i = 0; i < kept(); ++i) {
        const Entry& e = entry(i);
        std::fprintf(out, "%12" PRIu64 " ns  rank %3d  %-24s %" PRId64 " %" PRId64 "\n", e.time,
                     e.rank, e.event, e.first, e.second);
    }
}

std::uint64_t Trace::digest() const noexcept
{
    std::uint64_t hash = 14695981039346656037U;
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
    mix(recorded_);
    for (std::size_t i = 0; i < kept(); ++i) {
        const Entry& e = entry(i);
        mix(e.time);
        mix(static_cast<std::uint64_t>(e.rank));
        mix(static_cast<std::uint64_t>(e.first));
        mix(static_cast<std::uint64_t>(e.second));
        for (const char* c = e.event; *c != '\0'; ++c) {
            mix(static_cast<unsigned char>(*c));
        }
    }
    return hash;
}

} // namespace sidelight::fabric::sim
