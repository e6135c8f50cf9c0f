// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/// Tests with several processes: a child runs a function and says by its exit status how it went.
namespace sidelight::unit {

/// Nobody is left waiting, whatever goes wrong.
inline constexpr unsigned longest_seconds = 800;

/// Starts a process that runs `body`, which answers whether all was well. It dies with its parent.
template <typename Body>
[[nodiscard]] pid_t start_process(Body body)
{
    const pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(longest_seconds);
        _exit(body() ? 0 : 1);
    }
    return process;
}

/// Waits until it has ended; whether its `body` answered true.
[[nodiscard]] inline bool went_well(pid_t process)
{
    int status = 0;
    return waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A pipe that carries plain data from one process to another.
class Channel {
public:
    Channel() { open_ = pipe(ends_) == 0; }
    ~Channel()
    {
        close(ends_[0]);
        close(ends_[1]);
    }
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    template <typename T>
    [[nodiscard]] bool send(const T& value) const
    {
        return open_ && write(ends_[1], &value, sizeof value) == sizeof value;
    }
    template <typename T>
    [[nodiscard]] bool receive(T& value) const
    {
        return open_ && read(ends_[0], &value, sizeof value) == sizeof value;
    }

    [[nodiscard]] int reading_end() const noexcept { return ends_[0]; }

private:
    int ends_[2] = {-1, -1};
    bool open_ = false;
};

} // namespace sidelight::unit
