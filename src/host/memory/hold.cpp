// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/hold.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Names that came with Linux 5.19 and 6.1. Older kernels refuse the values.
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif

namespace sidelight::host::memory {
namespace {

File new_descriptor() noexcept
{
    File file(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)));
    if (file) {
        return file;
    }
    const File device(open("/dev/userfaultfd", O_RDWR | O_CLOEXEC));
    return device ? File(ioctl(device.descriptor(), USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK))
                  : File();
}

bool watch(const File& file, Span pages, std::uint64_t mode) noexcept
{
    uffdio_register request{};
    request.range = {.start = pages.first, .len = pages.bytes()};
    request.mode = mode;
    return ioctl(file.descriptor(), UFFDIO_REGISTER, &request) == 0;
}

} // namespace

Hold Hold::open(bool shared_writes) noexcept
{
    Hold hold;
    File file = new_descriptor();
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = shared_writes ? UFFD_FEATURE_WP_HUGETLBFS_SHMEM : 0;
    if (file && ioctl(file.descriptor(), UFFDIO_API, &api) == 0) {
        hold.file_ = std::move(file);
    }
    return hold;
}

bool Hold::hold_missing(Span pages) const noexcept
{
    return watch(file_, pages, UFFDIO_REGISTER_MODE_MISSING);
}

bool Hold::hold_writes(Span pages) const noexcept
{
    uffdio_writeprotect protect{};
    protect.range = {.start = pages.first, .len = pages.bytes()};
    protect.mode = UFFDIO_WRITEPROTECT_MODE_WP;
    return watch(file_, pages, UFFDIO_REGISTER_MODE_WP) &&
           ioctl(file_.descriptor(), UFFDIO_WRITEPROTECT, &protect) == 0;
}

void Hold::end() noexcept
{
    if (file_) {
        syscall(SYS_close, file_.release()); // close() may be a tool's, see replacement.cpp
    }
}

} // namespace sidelight::host::memory
