// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/window_info.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "base/whole_number.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::runtime {

namespace {

enum Key : std::size_t {
    access_after_access,
    access_after_exposure,
    exposure_after_exposure,
    exposure_after_access,
    noncontig,
    share_memory,
    least_alignment,
    no_exclusive,
    scope,
    order,
    most_notifications,
    same_number,
    active_order,
    at_target,
    intrinsic,
    single_intrinsic,
    progress_key,
    early_return_key,
};

/// Whether a value is one of a list, which has commas between.
constexpr bool is_among(std::string_view value, std::string_view list) noexcept
{
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        if (value == list.substr(0, end)) {
            return true;
        }
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

// Whether a value can be had. A word that a reader does not know gives what it falls back on.

bool is_anything(const char*) noexcept { return true; }

bool is_switch(const char* value) noexcept { return is_true(value, false) == is_true(value, true); }

bool is_boolean(const char* value) noexcept { return is_among(value, "false,true"); }

bool is_scope(const char* value) noexcept { return is_among(value, "process,thread"); }

bool is_share_policy(const char* value) noexcept
{
    return share_policy(value, SharePolicy::automatic) == share_policy(value, SharePolicy::never);
}

bool is_alignment(const char* value) noexcept { return minimum_alignment(value).has_value(); }

bool is_count(const char* value) noexcept { return whole_number<int>(value).value_or(-1) >= 0; }

/// Words of a list, with commas between, or "none" alone.
bool is_some_of(std::string_view value, std::string_view list) noexcept
{
    bool all = !value.empty();
    for (std::string_view rest = value; all && !rest.empty();) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        all = is_among(rest.substr(0, end), list);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return all || value == "none";
}

constexpr const char* active_orders = "sameop,diffop,sameam";

bool is_active_order(const char* value) noexcept { return is_some_of(value, active_orders); }

constexpr const char* accumulate_orders = "rar,raw,war,waw";

bool is_accumulate_order(const char* value) noexcept
{
    return is_some_of(value, accumulate_orders);
}

bool is_accumulate_ops(const char* value) noexcept
{
    return is_among(value, "same_op,same_op_no_op");
}

bool is_progress(const char* value) noexcept
{
    return progress_mode(value, Progress::automatic) == progress_mode(value, Progress::calls);
}

bool is_early_return(const char* value) noexcept
{
    return early_return_bytes(value, 0) == early_return_bytes(value, 1);
}

struct KnownKey {
    const char* name;
    const char* short_name; ///< where `name` is too long for some hosts; null: none
    const char* fallback;   ///< null: what its setting says
    KeyScope scope;
    bool (*can_be)(const char* value) noexcept; ///< any other value leaves the key as it is
};

constexpr auto at_creation = KeyScope::creation;
constexpr auto of_window = KeyScope::window;
constexpr auto of_handle = KeyScope::handle;

constexpr auto known = std::to_array<KnownKey>({
    {"MPI_WIN_ACCESS_AFTER_ACCESS_REORDER", "sidelight_a_a_a_r", nullptr, of_window, is_switch},
    {"MPI_WIN_ACCESS_AFTER_EXPOSURE_REORDER", "sidelight_a_a_e_r", nullptr, of_window, is_switch},
    {"MPI_WIN_EXPOSURE_AFTER_EXPOSURE_REORDER", "sidelight_e_a_e_r", nullptr, of_window, is_switch},
    {"MPI_WIN_EXPOSURE_AFTER_ACCESS_REORDER", "sidelight_e_a_a_r", nullptr, of_window, is_switch},
    {"alloc_shared_noncontig", nullptr, "false", of_window, is_switch}, // later it changes nothing
    {"sidelight_share_memory", nullptr, nullptr, of_handle, is_share_policy},
    {"mpi_minimum_memory_alignment", nullptr, "1", at_creation, is_alignment},
    {"sidelight_no_exclusive_locks", nullptr, nullptr, at_creation, is_switch},
    {"mpi_win_scope", nullptr, "process", of_handle, is_scope},
    {"mpi_win_order", nullptr, "false", of_handle, is_boolean},
    {"mpi_assert_max_num_notify", nullptr, "0", at_creation, is_count},
    {"mpi_assert_same_num_notifications", nullptr, "false", of_window, is_switch},
    {"am_ordering", nullptr, active_orders, of_handle, is_active_order},
    {"sidelight_am_at_target", nullptr, "false", at_creation, is_switch},
    {"mpi_assert_accumulate_intrinsic", nullptr, "false", of_handle, is_boolean},
    {"acc_single_intrinsic", nullptr, "false", of_handle, is_boolean}, // Open MPI's own
    {"sidelight_progress", nullptr, "auto", at_creation, is_progress},
    {"sidelight_early_return", nullptr, nullptr, of_window, is_early_return},
    {"no_locks", nullptr, "false", of_window, is_switch},
    {"accumulate_ordering", nullptr, accumulate_orders, of_handle, is_accumulate_order},
    {"accumulate_ops", nullptr, "same_op_no_op", of_handle, is_accumulate_ops},
    {"same_size", nullptr, "false", of_window, is_switch},
    {"same_disp_unit", nullptr, "false", of_window, is_switch},
    {"mpi_accumulate_granularity", nullptr, "0", of_handle, is_count},
    {"mpi_assert_memory_alloc_kinds", nullptr, "", of_window, is_anything},
});

/// The setting that says what a key is by default; null: there is none.
const SettingEntry* setting_of(std::string_view key) noexcept
{
    for (const SettingEntry& entry : setting_entries()) {
        if (entry.info_key != nullptr && entry.info_key == key) {
            return &entry;
        }
    }
    return nullptr;
}

/// What MPI itself says in any window's info (MPI-4.1, 12.4.3): the kinds of memory that it
/// supports there. Nothing that the program gives changes it.
constexpr const char* memory_kinds_key = "mpi_memory_alloc_kinds";
constexpr const char* memory_kinds = "mpi,system";

/// Open MPI takes 35 characters, MPICH 254: a longer key is an error there, not just unknown.
bool host_takes(const char* key) noexcept
{
    return key != nullptr && std::strlen(key) < MPI_MAX_INFO_KEY;
}

bool get(MPI_Info info, const char* key, std::string& value)
{
    const auto& mpi = host::mpi::table();
    int length = 0;
    int found = 0;
    if (!host_takes(key)) {
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

bool is_info(MPI_Info info) noexcept
{
    int keys = 0;
    return info == MPI_INFO_NULL || host::mpi::table().Info_get_nkeys(info, &keys) == MPI_SUCCESS;
}

std::shared_ptr<const WindowInfo::Values> WindowInfo::defaults()
{
    static_assert(known.size() == keys);
    const auto made = std::make_shared<Values>();
    Values& values = *made;
    for (std::size_t key = 0; key < keys; ++key) {
        const SettingEntry* const from =
            key != progress_key ? setting_of(known[key].name) : nullptr;
        values[key] = from != nullptr ? from->show(settings()) : known[key].fallback;
    }
    return made;
}

/// The settings do not change in the life of a process.
WindowInfo::WindowInfo()
{
    static const auto& all = *new auto(defaults()); // there until the process has ended
    values_ = all;
    no_exclusive_locks_ = is_set(no_exclusive);
    active_at_target_ = is_set(at_target);
}

const char* WindowInfo::in_force(std::size_t key) const noexcept
{
    switch (key) {
    case no_exclusive:
        return no_exclusive_locks_ ? "true" : "false";
    case at_target:
        return active_at_target_ ? "true" : "false";
    case progress_key: // a window that asks for nothing has what the process has
        return progress() == Progress::automatic ? progress_mode_name(settings().progress)
                                                 : (*values_)[key].c_str();
    default:
        return (*values_)[key].c_str();
    }
}

void WindowInfo::set(std::size_t key, std::string value)
{
    if (value != (*values_)[key]) {
        auto changed = std::make_shared<Values>(*values_);
        (*changed)[key] = std::move(value);
        values_ = std::move(changed);
    }
}

void WindowInfo::update(MPI_Info info, KeyScope by)
{
    if (info == MPI_INFO_NULL) {
        return;
    }
    for (std::size_t key = 0; key < keys; ++key) {
        std::string value;
        const bool shortly = get(info, known[key].short_name, value);
        const bool given = get(info, known[key].name, value) || shortly;
        if (given && known[key].scope >= by && known[key].can_be(value.c_str())) {
            set(key, std::move(value));
        }
    }
    if (by == KeyScope::creation) {
        no_exclusive_locks_ = is_set(no_exclusive);
        active_at_target_ = is_set(at_target);
    }
}

void WindowInfo::share(const WindowInfo& original)
{
    for (std::size_t key = 0; key < keys && values_ != original.values_; ++key) {
        if (known[key].scope != KeyScope::handle) {
            set(key, (*original.values_)[key]);
        }
    }
    no_exclusive_locks_ = original.no_exclusive_locks_;
    active_at_target_ = original.active_at_target_;
}

void WindowInfo::note_notifications(MPI_Info info)
{
    const KnownKey& key = known[same_number];
    std::string value;
    const bool given = info != MPI_INFO_NULL && get(info, key.name, value);
    set(same_number, given && key.can_be(value.c_str()) ? value : key.fallback);
}

bool WindowInfo::same_notifications() const noexcept { return is_set(same_number); }

int WindowInfo::create(MPI_Info* info) const noexcept
{
    const auto& mpi = host::mpi::table();
    if (const int code = mpi.Info_create(info); code != MPI_SUCCESS) {
        return code;
    }
    int code = MPI_SUCCESS;
    for (std::size_t key = 0; key < keys && code == MPI_SUCCESS; ++key) {
        if (const char* value = in_force(key); *value != '\0') {
            const char* name =
                host_takes(known[key].name) ? known[key].name : known[key].short_name;
            code = mpi.Info_set(*info, name, value);
        }
    }
    if (code == MPI_SUCCESS) {
        code = mpi.Info_set(*info, memory_kinds_key, memory_kinds);
    }
    if (code != MPI_SUCCESS) {
        mpi.Info_free(info);
    }
    return code;
}

bool WindowInfo::is_set(std::size_t key) const noexcept
{
    return is_true((*values_)[key].c_str(), false);
}

rma::Reorder WindowInfo::reorder() const noexcept
{
    return {.access_after_access = is_set(access_after_access),
            .access_after_exposure = is_set(access_after_exposure),
            .exposure_after_exposure = is_set(exposure_after_exposure),
            .exposure_after_access = is_set(exposure_after_access)};
}

Progress WindowInfo::progress() const noexcept
{
    return progress_mode((*values_)[progress_key].c_str(), Progress::automatic);
}

std::size_t WindowInfo::early_return() const noexcept
{
    return early_return_bytes(in_force(early_return_key), 0);
}

SharePolicy WindowInfo::share_policy() const noexcept
{
    return sidelight::share_policy(in_force(share_memory), settings().share_memory);
}

std::size_t WindowInfo::minimum_alignment() const noexcept
{
    return sidelight::minimum_alignment(in_force(least_alignment)).value_or(1);
}

rma::ActiveOrder WindowInfo::active_ordering() const noexcept
{
    const std::string_view value = in_force(active_order);
    return {.same_op = is_among("sameop", value),
            .diff_op = is_among("diffop", value),
            .same_message = is_among("sameam", value)};
}

bool WindowInfo::ordered() const noexcept { return is_set(order); }

bool WindowInfo::asserts_intrinsic() const noexcept
{
    return is_set(intrinsic) || is_set(single_intrinsic);
}

bool WindowInfo::asserts_single() const noexcept { return is_set(single_intrinsic); }

bool WindowInfo::thread_scope() const noexcept
{
    return std::string_view(in_force(scope)) == "thread";
}

bool WindowInfo::noncontiguous() const noexcept { return is_set(noncontig); }

void WindowInfo::set_contiguous()
{
    if (noncontiguous()) {
        set(noncontig, known[noncontig].fallback);
    }
}

} // namespace sidelight::runtime
