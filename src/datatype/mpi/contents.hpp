// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace sidelight::datatype {

/// How a derived type was made: its combiner and the arguments of the call, in the order of the
/// call. The forms with int counts and those with MPI_Count (`_c`) read the same. Owns the handles
/// of the types that it was made from.
class Contents {
public:
    /// Asks the host. The type must not be a named one.
    explicit Contents(MPI_Datatype type);
    ~Contents();
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;

    [[nodiscard]] int combiner() const noexcept { return combiner_; }
    [[nodiscard]] const std::vector<MPI_Datatype>& types() const noexcept { return types_; }
    [[nodiscard]] MPI_Datatype type() const { return types_.at(0); }

    /// The next argument that is an int in both forms.
    int next_integer() { return integers_.at(integer_++); }
    /// The next one that is an int in one form and an MPI_Count in the other.
    std::ptrdiff_t next_count();
    /// The next one that is an MPI_Aint in one form and an MPI_Count in the other.
    std::ptrdiff_t next_address();
    std::vector<std::ptrdiff_t> next_counts(std::size_t n);
    std::vector<std::ptrdiff_t> next_addresses(std::size_t n);
    std::vector<int> next_integers(std::size_t n);

private:
    void query(MPI_Datatype type);
    void query_large(MPI_Datatype type);

    int combiner_ = 0;
    std::vector<int> integers_;
    std::vector<MPI_Aint> addresses_;
    std::vector<MPI_Count> large_counts_;
    std::vector<MPI_Datatype> types_;
    std::size_t integer_ = 0;
    std::size_t address_ = 0;
    std::size_t large_count_ = 0;
};

/// The combiner alone; MPI_COMBINER_NAMED for a type that has no contents.
[[nodiscard]] int combiner_of(MPI_Datatype type);

/// Whether a type of this combiner is predefined, so that it has no contents or, made by
/// MPI_Type_create_f90_*, none that count.
[[nodiscard]] bool is_predefined(int combiner) noexcept;

} // namespace sidelight::datatype
