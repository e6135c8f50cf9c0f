// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/attribute_keys.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "host/mpi/errors.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "runtime/window_table.hpp"

namespace sidelight::runtime::attribute_keys {

namespace {

using host::mpi::table;

struct Key {
    MPI_Win_copy_attr_function* copy = nullptr;
    void* extra_state = nullptr;
    bool freed = false;
};

using Keys = std::vector<std::pair<int, Key>>;

/// The lock guards the keys of all handles, too; no callback runs under it. An entry stays until
/// the host gives its number to another key, which is when no attribute has it any more.
struct Known {
    std::mutex mutex;
    std::unordered_map<int, Key> by_number;
};

Known& known()
{
    static auto* const made = new Known;
    return *made;
}

/// Those that `from` has a value for.
Keys keys_of(const WindowObject& from)
{
    Known& all = known();
    const std::scoped_lock lock(all.mutex);
    Keys found;
    for (const int keyval : from.attribute_keys) {
        // A number may be another key's by now, where Fortran's binding has deleted the attribute.
        if (const auto key = all.by_number.find(keyval); key != all.by_number.end()) {
            found.emplace_back(*key);
        }
    }
    return found;
}

/// What stands for MPI_WIN_NULL_COPY_FN and MPI_WIN_DUP_FN where they are no functions.
constexpr std::uintptr_t null_copy = 0;
constexpr std::uintptr_t plain_copy = 1;

int call(const Key& key, MPI_Win win, int keyval, void* value, void** copied, int* wanted)
{
    const auto number = reinterpret_cast<std::uintptr_t>(key.copy);
    if (number == null_copy || number == plain_copy) {
        *copied = value;
        *wanted = number == plain_copy ? 1 : 0;
        return MPI_SUCCESS;
    }
    return key.copy(win, keyval, key.extra_state, value, copied, wanted);
}

void note(WindowObject& object, int keyval)
{
    const std::scoped_lock lock(known().mutex);
    std::vector<int>& keys = object.attribute_keys;
    if (std::find(keys.begin(), keys.end(), keyval) == keys.end()) {
        keys.push_back(keyval);
    }
}

/// Whether the host still lets the program use that key. Holds the lock.
bool is_alive(const Known& all, int keyval) noexcept
{
    const auto found = all.by_number.find(keyval);
    return found != all.by_number.end() && !found->second.freed;
}

bool may_be_set(int keyval)
{
    Known& all = known();
    const std::scoped_lock lock(all.mutex);
    return is_alive(all, keyval);
}

int last_to_delete(const WindowObject& object) noexcept
{
    Known& all = known();
    const std::scoped_lock lock(all.mutex);
    const std::vector<int>& keys = object.attribute_keys;
    const auto last =
        std::find_if(keys.rbegin(), keys.rend(), [&](int keyval) { return is_alive(all, keyval); });
    return last == keys.rend() ? MPI_KEYVAL_INVALID : *last;
}

int delete_all(WindowObject& object, MPI_Win handle) noexcept
{
    for (int keyval = last_to_delete(object); keyval != MPI_KEYVAL_INVALID;
         keyval = last_to_delete(object)) {
        void* value = nullptr;
        int found = 0;
        int code = table().Win_get_attr(handle, keyval, &value, &found);
        if (code == MPI_SUCCESS && found != 0) {
            code = table().Win_delete_attr(handle, keyval);
        }
        if (code != MPI_SUCCESS) {
            return code;
        }
        note_deleted(object, keyval);
    }
    return MPI_SUCCESS;
}

int copy_one(const WindowObject& from, WindowObject& to, int keyval, const Key& key)
{
    void* value = nullptr;
    void* copied = nullptr;
    int wanted = 0;
    int code = table().Win_get_attr(from.handle, keyval, &value, &wanted);
    if (code != MPI_SUCCESS || wanted == 0) {
        return code;
    }
    wanted = 0;
    code = call(key, from.handle, keyval, value, &copied, &wanted);
    if (code != MPI_SUCCESS || wanted == 0) {
        return code;
    }
    note(to, keyval);
    return table().Win_set_attr(to.handle, keyval, copied);
}

} // namespace

void learn(int keyval, MPI_Win_copy_attr_function* copy, void* extra_state)
{
    Known& all = known();
    const std::scoped_lock lock(all.mutex);
    all.by_number.insert_or_assign(keyval, Key{.copy = copy, .extra_state = extra_state});
}

void forget(int keyval) noexcept
{
    Known& all = known();
    const std::scoped_lock lock(all.mutex);
    all.by_number.erase(keyval);
}

void retire(int keyval) noexcept
{
    Known& all = known();
    const std::scoped_lock lock(all.mutex);
    if (const auto found = all.by_number.find(keyval); found != all.by_number.end()) {
        found->second.freed = true;
    }
}

void note_set(WindowObject& object, int keyval)
{
    if (may_be_set(keyval)) {
        note(object, keyval);
    } else {
        object.keeps_handle = false;
    }
}

void note_deleted(WindowObject& object, int keyval) noexcept
{
    const std::scoped_lock lock(known().mutex);
    std::erase(object.attribute_keys, keyval);
}

int free_handle(WindowObject& object, MPI_Win* handle) noexcept
{
    window_table::retire(object);
    int code = host::mpi::destroys_under_lock ? delete_all(object, *handle) : MPI_SUCCESS;
    if (code == MPI_SUCCESS) {
        code = host::mpi::destroy_handle(handle);
    }
    if (code != MPI_SUCCESS) {
        window_table::keep(object);
    }
    return code;
}

int copy(const WindowObject& from, WindowObject& to) noexcept
{
    try {
        for (const auto& [keyval, key] : keys_of(from)) {
            if (const int code = copy_one(from, to, keyval, key); code != MPI_SUCCESS) {
                return code;
            }
        }
    } catch (const std::bad_alloc&) {
        return host::mpi::error_class(Status::no_memory);
    }
    return MPI_SUCCESS;
}

} // namespace sidelight::runtime::attribute_keys
