// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/address_space.hpp"

#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/shared_memory.hpp"
#include "host/memory/devices.hpp"

namespace sidelight::host::memory {
namespace {

/// Lines of a file, read through a buffer on the stack. A line that is longer is cut off.
class Lines {
public:
    explicit Lines(int descriptor) noexcept : descriptor_(descriptor) {}

    [[nodiscard]] bool next(std::string_view& line) noexcept
    {
        std::size_t found = text().find('\n');
        if (found == std::string_view::npos) {
            refill();
            found = text().find('\n');
        }
        const bool whole = found != std::string_view::npos;
        line = text().substr(0, whole ? found : text().size());
        begin_ += line.size() + (whole ? 1 : 0);
        return whole || !line.empty();
    }
    /// Whether nothing has failed so far.
    [[nodiscard]] bool good() const noexcept { return good_; }

private:
    [[nodiscard]] std::string_view text() const noexcept
    {
        return {buffer_.data() + begin_, end_ - begin_};
    }

    void refill() noexcept
    {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
        while (end_ < buffer_.size()) {
            // Not read(): threads may stand still meanwhile, see replacement.cpp.
            const long got =
                syscall(SYS_read, descriptor_, buffer_.data() + end_, buffer_.size() - end_);
            if (got <= 0) {
                good_ = got == 0;
                return;
            }
            end_ += static_cast<std::size_t>(got);
        }
    }

    int descriptor_;
    std::array<char, 16384> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool good_ = true;
};

/// Takes fields from the front of a line.
class Fields {
public:
    explicit Fields(std::string_view line) noexcept : rest_(line) {}

    template <typename Number>
    bool number(Number& value, int base) noexcept
    {
        const auto [end, error] =
            std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return error == std::errc();
    }
    bool literal(char wanted) noexcept
    {
        const bool found = !rest_.empty() && rest_.front() == wanted;
        rest_.remove_prefix(found ? 1 : 0);
        return found;
    }
    std::string_view take(std::size_t count) noexcept
    {
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(taken.size());
        return taken;
    }
    std::string_view rest() noexcept
    {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
        return rest_;
    }

private:
    std::string_view rest_;
};

template <std::size_t size>
void copy_text(std::array<char, size>& to, std::string_view from) noexcept
{
    const std::size_t length = std::min(from.size(), size - 1);
    std::memcpy(to.data(), from.data(), length);
    to[length] = '\0';
}

/// "first-last rwxp offset major:minor inode   name"; false if the line is none of these.
bool read_head(std::string_view line, Area& area) noexcept
{
    Fields fields(line);
    Area found;
    unsigned int major = 0;
    unsigned int minor = 0;
    if (!fields.number(found.span.first, 16) || !fields.literal('-') ||
        !fields.number(found.span.last, 16) || !fields.literal(' ')) {
        return false;
    }
    const std::string_view rights = fields.take(4);
    if (rights.size() != 4 || !fields.literal(' ') || !fields.number(found.offset, 16) ||
        !fields.literal(' ') || !fields.number(major, 16) || !fields.literal(':') ||
        !fields.number(minor, 16) || !fields.literal(' ') || !fields.number(found.inode, 10)) {
        return false;
    }
    found.readable = rights[0] == 'r';
    found.writable = rights[1] == 'w';
    found.executable = rights[2] == 'x';
    found.shared = rights[3] == 's';
    found.device = makedev(major, minor);
    copy_text(found.name, fields.rest());
    area = found;
    return true;
}

/// "Name:   value"; the value if the line has that name.
bool has_name(std::string_view line, std::string_view name, std::string_view& value) noexcept
{
    if (line.substr(0, name.size()) != name) {
        return false;
    }
    line.remove_prefix(name.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    value = line;
    return true;
}

template <typename Number>
Number decimal(std::string_view text) noexcept
{
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

void read_detail(std::string_view line, Area& area) noexcept
{
    std::string_view value;
    if (has_name(line, "AnonHugePages:", value)) {
        area.huge_bytes = decimal<std::uint64_t>(value) * 1024;
    } else if (has_name(line, "ShmemPmdMapped:", value)) {
        area.huge_bytes += decimal<std::uint64_t>(value) * 1024;
    } else if (has_name(line, "THPeligible:", value)) {
        area.huge_eligible = decimal<int>(value) != 0;
    } else if (has_name(line, "VmFlags:", value)) {
        copy_text(area.flags, value);
    }
}

} // namespace

bool visit_areas(int descriptor, Span span, AreaVisitor& visitor) noexcept
{
    Lines lines(descriptor);
    std::string_view line;
    Area area;
    Area next;
    bool pending = false; // `area` is wanted, and its details may follow
    while (lines.next(line)) {
        if (!read_head(line, next)) {
            read_detail(line, area);
            continue;
        }
        if (pending && !visitor.visit(area)) {
            return true;
        }
        area = next;
        pending = !common_part(area.span, span).empty();
        if (area.span.first >= span.last) {
            return true;
        }
    }
    if (pending) {
        visitor.visit(area);
    }
    return lines.good();
}

bool visit_areas(Span span, Detail detail, AreaVisitor& visitor) noexcept
{
    const char* path = detail == Detail::flags ? "/proc/self/smaps" : "/proc/self/maps";
    const File file(open(path, O_RDONLY | O_CLOEXEC));
    return file && visit_areas(file.descriptor(), span, visitor);
}

bool has_flag(const Area& area, std::string_view flag) noexcept
{
    const std::string_view flags = area.flags.data();
    for (std::size_t at = 0; at + 2 <= flags.size(); at += 3) {
        if (flags.substr(at, 2) == flag) {
            return true;
        }
    }
    return false;
}

ProcessState process_state() noexcept
{
    ProcessState state;
    const File file(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    if (!file) {
        return state;
    }
    Lines lines(file.descriptor());
    std::string_view line;
    std::string_view value;
    while (lines.next(line)) {
        if (has_name(line, "Threads:", value)) {
            state.threads = decimal<int>(value);
        } else if (has_name(line, "VmPin:", value)) {
            state.pinned = decimal<std::uint64_t>(value);
        }
    }
    state.devices = has_device_open();
    return state;
}

} // namespace sidelight::host::memory
