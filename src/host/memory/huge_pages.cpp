// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/huge_pages.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

#include "base/shared_memory.hpp"
#include "host/memory/present_pages.hpp"

namespace sidelight::host::memory {
namespace {

using Text = std::array<char, 128>;

std::string_view read_text(const char* path, Text& buffer) noexcept
{
    const File file(open(path, O_RDONLY | O_CLOEXEC));
    const ssize_t got = file ? read(file.descriptor(), buffer.data(), buffer.size()) : 0;
    return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

} // namespace

SharedHugePages shared_huge_pages(std::string_view text) noexcept
{
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
        return SharedHugePages::never;
    }
    const std::string_view word = text.substr(open + 1, close - open - 1);
    if (word == "always" || word == "within_size" || word == "force") {
        return SharedHugePages::always;
    }
    return word == "advise" ? SharedHugePages::advised : SharedHugePages::never;
}

SharedHugePages shared_huge_pages() noexcept
{
    Text text;
    return shared_huge_pages(read_text("/sys/kernel/mm/transparent_hugepage/shmem_enabled", text));
}

std::size_t huge_page_size() noexcept
{
    Text text;
    const std::string_view number =
        read_text("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", text);
    std::size_t bytes = 0;
    std::from_chars(number.data(), number.data() + number.size(), bytes);
    return bytes;
}

bool touches_huge_page(const Area& area, Span pages, std::size_t huge) noexcept
{
    if (area.huge_bytes == 0 && !area.huge_eligible) {
        return false;
    }
    const Span whole = whole_pages_in(area.span, huge);
    // Without room for one it is eligible for smaller ones, whose bounds are not known here.
    return huge == 0 || whole.empty() || !common_part(whole, pages).empty();
}

bool all_huge_pages_touched(Span pages, std::size_t huge) noexcept
{
    Span left = whole_pages_in(pages, huge);
    PresentPages present(pages);
    Span run;
    while (!left.empty() && present.next(run)) {
        if (run.first >= left.first + huge) {
            return false;
        }
        left.first = std::max(left.first, pages_of(run, huge).last);
    }
    return left.empty();
}

} // namespace sidelight::host::memory
