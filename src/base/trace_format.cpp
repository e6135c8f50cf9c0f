// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace_format.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "base/shared_memory.hpp"
#include "base/text_file.hpp"

namespace sidelight::trace {

namespace {

constexpr std::uint32_t format_version = 1;

/// A new file: one that is there may be a link, to a file of whoever runs the program.
File create_file(const char* path) noexcept
{
    unlink(path);
    return File(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
}

} // namespace

FileHeader header_of(int rank, int ranks) noexcept
{
    FileHeader header{};
    std::memcpy(header.magic, "SDLTRACE", sizeof header.magic);
    header.version = format_version;
    header.rank = rank;
    header.ranks = ranks;
    [[maybe_unused]] const ssize_t length =
        readlink("/proc/self/exe", header.program, sizeof header.program - 1);
    return header;
}

std::string file_name(int rank)
{
    char name[128];
    if (rank >= 0) {
        std::snprintf(name, sizeof name, "rank-%05d", rank);
    } else {
        char host[sizeof FileHeader::host] = {};
        gethostname(host, sizeof host - 1);
        std::snprintf(name, sizeof name, "process-%s-%d", host, static_cast<int>(getpid()));
    }
    return name;
}

/// The file gets its length first: the kernel ends a program that writes beyond ulimit -f.
bool copy_maps(const char* path) noexcept
{
    char* text = nullptr;
    std::size_t length = 0;
    const TextFile maps = open_text("/proc/self/maps");
    TextFile lines(open_memstream(&text, &length), std::fclose);
    if (maps == nullptr || lines == nullptr) {
        return false;
    }
    char* line = nullptr;
    std::size_t room = 0;
    while (getline(&line, &room, maps.get()) > 0) {
        if (std::strstr(line, " r-xp ") != nullptr) {
            std::fputs(line, lines.get());
        }
    }
    std::free(line);
    lines.reset(); // now they are all in `text`
    const File out = create_file(path);
    const bool done = text != nullptr && out && grow(out, length) &&
                      write(out.descriptor(), text, length) == static_cast<ssize_t>(length);
    std::free(text);
    return done;
}

} // namespace sidelight::trace
