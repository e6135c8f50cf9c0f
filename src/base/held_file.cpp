// SPDX-License-Identifier: BSD-3-Clause
#include "base/held_file.hpp"

#include <sys/stat.h>

namespace sidelight {

FileIdentity identity_of(const File& file) noexcept
{
    struct stat status {};
    return file && fstat(file.descriptor(), &status) == 0
               ? FileIdentity{status.st_dev, status.st_ino}
               : FileIdentity{};
}

HeldFile& HeldFile::operator=(HeldFile&& other) noexcept
{
    std::swap(file_, other.file_);
    std::swap(identity_, other.identity_);
    return *this;
}

const File& HeldFile::file() noexcept
{
    if (!is_open()) {
        file_.release();
    }
    return file_;
}

} // namespace sidelight
