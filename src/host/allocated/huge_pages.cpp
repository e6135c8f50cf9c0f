// SPDX-License-Identifier: BSD-3-Clause
#include "host/allocated/huge_pages.hpp"

#include <array>
#include <charconv>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "base/shared_memory.hpp"

namespace sidelight::host::allocated {
namespace {

using Text = std::array<char, 128>;

std::string_view read_text(const char* name, Text& buffer) noexcept
{
    std::array<char, 96> path{};
    std::snprintf(path.data(), path.size(), "/sys/kernel/mm/transparent_hugepage/%s", name);
    const File file(open(path.data(), O_RDONLY | O_CLOEXEC));
    const ssize_t got = file ? read(file.descriptor(), buffer.data(), buffer.size()) : 0;
    return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

HugePages read_system() noexcept
{
    Text text{};
    HugePages system;
    const std::string_view number = read_text("hpage_pmd_size", text);
    std::from_chars(number.data(), number.data() + number.size(), system.bytes);
    const std::string_view of_private = chosen_word(read_text("enabled", text));
    system.for_private = of_private == "always";
    system.for_advised = system.for_private || of_private == "madvise";
    const std::string_view of_shared = chosen_word(read_text("shmem_enabled", text));
    system.for_shared = of_shared == "always" || of_shared == "within_size" ||
                        of_shared == "force" || of_shared == "advise";
    return system;
}

} // namespace

std::string_view chosen_word(std::string_view text) noexcept
{
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
        return {};
    }
    return text.substr(open + 1, close - open - 1);
}

const HugePages& huge_pages() noexcept
{
    static const HugePages system = read_system();
    return system;
}

bool would_have_huge_pages(const HugePages& system, std::size_t bytes, bool advised) noexcept
{
    return system.bytes != 0 && bytes >= system.bytes &&
           (system.for_private || (advised && system.for_advised));
}

} // namespace sidelight::host::allocated
