// SPDX-License-Identifier: BSD-3-Clause
#include "api/window_info.hpp"

#include <cstring>
#include <vector>

#include "base/settings.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::api {

namespace {

enum Key : std::size_t {
    access_after_access,
    access_after_exposure,
    exposure_after_exposure,
    exposure_after_access,
    noncontig,
    first_other,
};

struct KnownKey {
    const char* name;
    const char* fallback;
    const char* short_name = nullptr; ///< of the same meaning, for hosts without room for the name
};

constexpr std::array<KnownKey, 12> known{{
    {"MPI_WIN_ACCESS_AFTER_ACCESS_REORDER", "0", "A_A_A_R"},
    {"MPI_WIN_ACCESS_AFTER_EXPOSURE_REORDER", "0", "A_A_E_R"},
    {"MPI_WIN_EXPOSURE_AFTER_EXPOSURE_REORDER", "0", "E_A_E_R"},
    {"MPI_WIN_EXPOSURE_AFTER_ACCESS_REORDER", "0", "E_A_A_R"},
    {"alloc_shared_noncontig", "false"},
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"mpi_accumulate_granularity", "0"},
    {"mpi_assert_memory_alloc_kinds", ""},
}};

/// To ask Open MPI for a longer key than this is an error that its own handler raises.
bool fits(const char* key) noexcept { return std::strlen(key) < MPI_MAX_INFO_KEY; }

/// Takes over the value of `key`, where the object has it. A null key is in none.
bool get(MPI_Info info, const char* key, std::string& value)
{
    const auto& mpi = host::mpi::table();
    int length = 0;
    int found = 0;
    if (key == nullptr || !fits(key)) {
        return false;
    }
    if (mpi.Info_get_valuelen(info, key, &length, &found) != MPI_SUCCESS || found == 0) {
        return false;
    }
    std::vector<char> text(static_cast<std::size_t>(length) + 1);
    if (mpi.Info_get(info, key, length, text.data(), &found) != MPI_SUCCESS || found == 0) {
        return false;
    }
    value = text.data();
    return true;
}

} // namespace

WindowInfo::WindowInfo()
{
    for (std::size_t key = 0; key < keys; ++key) {
        values_[key] = known[key].fallback;
    }
    const Settings& from = settings();
    const std::array<bool, first_other - 1> reorder{
        from.access_after_access, from.access_after_exposure, from.exposure_after_exposure,
        from.exposure_after_access};
    for (std::size_t key = 0; key < reorder.size(); ++key) {
        values_[key] = reorder[key] ? "1" : "0";
    }
}

void WindowInfo::update(MPI_Info info)
{
    if (info == MPI_INFO_NULL) {
        return;
    }
    for (std::size_t key = 0; key < keys; ++key) {
        get(info, known[key].short_name, values_[key]);
        get(info, known[key].name, values_[key]);
    }
}

int WindowInfo::create(MPI_Info* info) const noexcept
{
    const auto& mpi = host::mpi::table();
    int code = mpi.Info_create(info);
    for (std::size_t key = 0; key < keys && code == MPI_SUCCESS; ++key) {
        if (!values_[key].empty()) {
            const char* name = fits(known[key].name) ? known[key].name : known[key].short_name;
            code = mpi.Info_set(*info, name, values_[key].c_str());
        }
    }
    return code;
}

bool WindowInfo::is_set(std::size_t key) const noexcept
{
    return is_true(values_[key].c_str(), false);
}

rma::Reorder WindowInfo::reorder() const noexcept
{
    return {.access_after_access = is_set(access_after_access),
            .access_after_exposure = is_set(access_after_exposure),
            .exposure_after_exposure = is_set(exposure_after_exposure),
            .exposure_after_access = is_set(exposure_after_access)};
}

bool WindowInfo::noncontiguous() const noexcept { return is_set(noncontig); }

} // namespace sidelight::api
