// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "datatype/cursor.hpp"
#include "rma/operation.hpp"

namespace sidelight::rma {

/// What an operation has while it travels as messages: how far it has been sent, and how far it has
/// been answered. From the process's Flights.
struct Flight {
    Op* op = nullptr;                               ///< null: not in use
    datatype::Cursor target{{nullptr, nullptr, 0}}; ///< over offsets in place of addresses
    datatype::Cursor data{{nullptr, nullptr, 0}};   ///< what is sent, or for a get where it goes
    datatype::Cursor answers{{nullptr, nullptr, 0}};
    std::uint64_t position = 0; ///< bytes of data that are sent, or asked for
    std::uint64_t answered = 0; ///< where `answers` is
    std::uint64_t received = 0; ///< bytes of data that have come back
    std::uint32_t replies = 0; ///< pieces that are not answered, of those with answers of their own
    std::uint32_t last_piece = 0; ///< number of the latest piece without one
    bool counted = false;         ///< the target has not said that it has performed that one
    std::uint32_t sends = 0;      ///< long messages whose data are still being read here
    std::uint32_t placing = 0;    ///< long answers whose data are still being written here
    bool launched = false;        ///< sent whole
    Status status = Status::ok;   ///< the first reason why a piece was not performed
    std::uint32_t number = 0;     ///< index in the table
    std::uint32_t generation = 0; ///< one more for each use
    Flight* next = nullptr;
};

/// Whether data come back from the target, and where they go.
inline const datatype::Buffer* returned_to(const Operation& operation) noexcept
{
    if (operation.kind == OperationKind::get) {
        return &operation.origin;
    }
    return operation.result.layout != nullptr ? &operation.result : nullptr;
}

/// All of a process's, by the names that its peers send back. A name is good for one use: an answer
/// that is made up, or comes twice, finds nothing.
class Flights {
public:
    /// Null when memory has run out.
    [[nodiscard]] Flight* take(Op& op) noexcept;
    void give_back(Flight& flight) noexcept;

    [[nodiscard]] static std::uint64_t cookie(const Flight& flight) noexcept
    {
        return std::uint64_t{flight.generation} << 32 | flight.number;
    }
    /// Null if there is none of that name.
    [[nodiscard]] Flight* find(std::uint64_t cookie) noexcept;
    /// All that are in use; `visit` may give back the one that it is given.
    template <class Visit>
    void for_each(Visit visit) noexcept
    {
        for (const auto& slab : slabs_) {
            for (std::size_t index = 0; index < slab_flights; ++index) {
                if (slab[index].op != nullptr) {
                    visit(slab[index]);
                }
            }
        }
    }

private:
    static constexpr std::size_t slab_flights = 64;
    bool grow() noexcept;

    std::vector<std::unique_ptr<Flight[]>> slabs_;
    Flight* free_ = nullptr;
};

} // namespace sidelight::rma
