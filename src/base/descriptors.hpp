// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstring>
#include <memory>

#include <dirent.h>

namespace sidelight {

/// Asks about the open descriptors of this process, until `wanted` answers true for one; whether it
/// does.
template <typename Wanted>
bool any_descriptor(Wanted wanted)
{
    const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc/self/fd"), closedir);
    while (all != nullptr) {
        const dirent* entry = readdir(all.get()); // NOLINT: nobody else has this directory
        if (entry == nullptr) {
            break;
        }
        int number = -1;
        std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), number);
        if (number >= 0 && number != dirfd(all.get()) && wanted(number)) {
            return true;
        }
    }
    return false;
}

} // namespace sidelight
