// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/mpi/contents.hpp"

#include <stdexcept>

#include "host/mpi/table.hpp"

namespace sidelight::datatype {
namespace {

using host::mpi::table;

void check(int error)
{
    if (error != MPI_SUCCESS) {
        throw std::runtime_error("the host cannot take a datatype apart");
    }
}

template <typename Function>
auto several(std::size_t n, Function next)
{
    std::vector<decltype(next())> values(n);
    for (auto& value : values) {
        value = next();
    }
    return values;
}

} // namespace

Contents::Contents(MPI_Datatype type)
{
    if (table().Type_get_contents_c != nullptr) {
        query_large(type);
    } else {
        query(type);
    }
}

Contents::~Contents()
{
    for (MPI_Datatype& type : types_) {
        if (type != MPI_DATATYPE_NULL && !is_predefined(combiner_of(type))) {
            table().Type_free(&type);
        }
    }
}

void Contents::query(MPI_Datatype type)
{
    int integers = 0;
    int addresses = 0;
    int types = 0;
    check(table().Type_get_envelope(type, &integers, &addresses, &types, &combiner_));
    integers_.resize(static_cast<std::size_t>(integers));
    addresses_.resize(static_cast<std::size_t>(addresses));
    std::vector<MPI_Datatype> parts(static_cast<std::size_t>(types), MPI_DATATYPE_NULL);
    check(table().Type_get_contents(type, integers, addresses, types, integers_.data(),
                                    addresses_.data(), parts.data()));
    types_ = std::move(parts);
}

void Contents::query_large(MPI_Datatype type)
{
    MPI_Count integers = 0;
    MPI_Count addresses = 0;
    MPI_Count large_counts = 0;
    MPI_Count types = 0;
    check(table().Type_get_envelope_c(type, &integers, &addresses, &large_counts, &types,
                                      &combiner_));
    integers_.resize(static_cast<std::size_t>(integers));
    addresses_.resize(static_cast<std::size_t>(addresses));
    large_counts_.resize(static_cast<std::size_t>(large_counts));
    std::vector<MPI_Datatype> parts(static_cast<std::size_t>(types), MPI_DATATYPE_NULL);
    check(table().Type_get_contents_c(type, integers, addresses, large_counts, types,
                                      integers_.data(), addresses_.data(), large_counts_.data(),
                                      parts.data()));
    types_ = std::move(parts);
}

std::ptrdiff_t Contents::next_count()
{
    return large_counts_.empty() ? next_integer() : large_counts_.at(large_count_++);
}

std::ptrdiff_t Contents::next_address()
{
    return large_counts_.empty() ? addresses_.at(address_++) : large_counts_.at(large_count_++);
}

std::vector<std::ptrdiff_t> Contents::next_counts(std::size_t n)
{
    return several(n, [this] { return next_count(); });
}

std::vector<std::ptrdiff_t> Contents::next_addresses(std::size_t n)
{
    return several(n, [this] { return next_address(); });
}

std::vector<int> Contents::next_integers(std::size_t n)
{
    return several(n, [this] { return next_integer(); });
}

int combiner_of(MPI_Datatype type)
{
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = MPI_COMBINER_NAMED;
    if (table().Type_get_envelope_c == nullptr) {
        check(table().Type_get_envelope(type, &integers, &addresses, &types, &combiner));
        return combiner;
    }
    MPI_Count counts[4] = {};
    check(table().Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3],
                                      &combiner));
    return combiner;
}

bool is_predefined(int combiner) noexcept
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

} // namespace sidelight::datatype
