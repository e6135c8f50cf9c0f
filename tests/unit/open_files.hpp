// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/// A program that closes all descriptors that it does not know, and opens files of its own.
namespace sidelight::unit {

/// The number of the next file that this process opens.
inline int next_descriptor()
{
    const int next = dup(STDERR_FILENO);
    close(next);
    return next;
}

/// The limit of open files, for as long as this lives.
class FileLimit {
public:
    explicit FileLimit(rlim_t files) { set(files); }
    ~FileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

private:
    void set(rlim_t files)
    {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit now = before_;
        now.rlim_cur = files;
        setrlimit(RLIMIT_NOFILE, &now);
    }
    rlimit before_{};
};

/// A pipe whose reading end takes the number of a file that somebody else believes to have open.
class PipeInItsPlace {
public:
    explicit PipeInItsPlace(int descriptor)
    {
        close(descriptor);
        EXPECT_EQ(pipe2(ends_.data(), O_NONBLOCK),
                  0); // one that was emptied ends no test by a hang
        if (ends_[0] != descriptor) {
            EXPECT_EQ(dup2(ends_[0], descriptor), descriptor);
            close(std::exchange(ends_[0], descriptor));
        }
        EXPECT_EQ(write(ends_[1], sent.data(), sent.size()), sent.size());
    }
    ~PipeInItsPlace()
    {
        close(ends_[0]);
        close(ends_[1]);
    }
    PipeInItsPlace(const PipeInItsPlace&) = delete;
    PipeInItsPlace& operator=(const PipeInItsPlace&) = delete;

    /// Whether it is open, and what was sent is in it, and nothing else.
    [[nodiscard]] bool is_untouched() const
    {
        std::array<char, 2 * sent.size()> found{};
        const ssize_t bytes = read(ends_[0], found.data(), found.size());
        return bytes == static_cast<ssize_t>(sent.size()) &&
               sent == std::string_view(found.data(), sent.size());
    }

private:
    static constexpr std::string_view sent{"program!"}; // as long as what is read of a timer

    std::array<int, 2> ends_{-1, -1};
};

} // namespace sidelight::unit
