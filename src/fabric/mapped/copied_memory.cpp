// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/mapped/copied_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <sys/uio.h>

#include "base/log.hpp"

namespace sidelight::fabric {
namespace {

/// Both sides of what is left of an access, as the kernel wants them.
class Vectors {
public:
    Vectors(std::span<const AccessPiece> pieces, std::uint64_t base) noexcept
        : count_(std::min(pieces.size(), RemoteMemory::most_pieces))
    {
        for (std::size_t i = 0; i < count_; ++i) {
            here_[i] = {pieces[i].here, pieces[i].bytes};
            there_[i] = {reinterpret_cast<void*>(base + pieces[i].there), pieces[i].bytes};
        }
        skip(0);
    }

    [[nodiscard]] bool empty() const noexcept { return first_ == count_; }
    [[nodiscard]] const iovec* here() const noexcept { return &here_[first_]; }
    [[nodiscard]] const iovec* there() const noexcept { return &there_[first_]; }
    [[nodiscard]] unsigned long count() const noexcept { return count_ - first_; }

    /// The first `bytes` have been copied.
    void skip(std::size_t bytes) noexcept
    {
        while (first_ < count_ && bytes >= here_[first_].iov_len) {
            bytes -= here_[first_].iov_len;
            ++first_;
        }
        if (first_ < count_) {
            for (iovec* side : {&here_[first_], &there_[first_]}) {
                side->iov_base = static_cast<std::byte*>(side->iov_base) + bytes;
                side->iov_len -= bytes;
            }
        }
    }

private:
    std::array<iovec, RemoteMemory::most_pieces> here_;
    std::array<iovec, RemoteMemory::most_pieces> there_;
    std::size_t count_;
    std::size_t first_ = 0;
};

bool read_word(pid_t owner, std::uint64_t address, std::uint64_t& word) noexcept
{
    const iovec here{&word, sizeof word};
    const iovec there{reinterpret_cast<void*>(address), sizeof word};
    return process_vm_readv(owner, &here, 1, &there, 1, 0) == sizeof word;
}

} // namespace

bool can_copy(pid_t owner, std::uint64_t address, std::uint64_t expected) noexcept
{
    std::uint64_t word = 0;
    if (!read_word(owner, address, word)) {
        log(LogLevel::info, "the kernel does not copy from and to process %d: %s%s", owner,
            std::strerror(errno), errno == EPERM ? " (see kernel.yama.ptrace_scope)" : "");
        return false;
    }
    return word == expected;
}

/// The shortest of some: the first ones fill caches, and others may be interrupted.
std::chrono::nanoseconds copy_time(pid_t owner, std::uint64_t address) noexcept
{
    using Clock = std::chrono::steady_clock;
    constexpr int attempts = 32;
    std::uint64_t word = 0;
    std::chrono::nanoseconds shortest = std::chrono::nanoseconds::max();
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const Clock::time_point begin = Clock::now();
        if (read_word(owner, address, word)) {
            shortest = std::min<std::chrono::nanoseconds>(shortest, Clock::now() - begin);
        }
    }
    return shortest;
}

/// The kernel copies 2 GB at once at most, and stops at what it cannot reach.
template <typename Copy>
Access CopiedMemory::move(std::span<const AccessPiece> pieces, Copy copy) noexcept
{
    Vectors left(pieces, base_);
    while (usable_ && !left.empty()) {
        const ssize_t copied =
            copy(owner_, left.here(), left.count(), left.there(), left.count(), 0UL);
        if (copied <= 0) {
            const int reason = copied < 0 ? errno : EFAULT;
            usable_ = reason == EFAULT; // that was about these addresses only
            log(LogLevel::info, "the kernel has not copied from or to process %d: %s", owner_,
                std::strerror(reason));
            return Access::failed;
        }
        left.skip(static_cast<std::size_t>(copied));
    }
    return usable_ ? Access::complete : Access::failed;
}

Access CopiedMemory::put(std::span<const AccessPiece> pieces, Completion& /*done*/) noexcept
{
    return move(pieces, process_vm_writev);
}

Access CopiedMemory::get(std::span<const AccessPiece> pieces, Completion& /*done*/) noexcept
{
    return move(pieces, process_vm_readv);
}

} // namespace sidelight::fabric
