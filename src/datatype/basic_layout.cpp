// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/basic_layout.hpp"

#include <array>

#include "datatype/builder.hpp"

namespace sidelight::datatype {
namespace {

const Layout* make(Basic basic)
{
    const BasicShape shape = shape_of(basic);
    LayoutBuilder builder;
    if (basic == Basic::i16_i32) { // the one with a hole inside
        builder.append_block(0, 2, basic);
        builder.append_block(4, 4, basic);
        builder.set_signature(signature_of(basic, shape.size));
    } else {
        builder.append_block(0, shape.size, basic);
    }
    return builder.finish_forever(0, shape.extent);
}

std::array<const Layout*, basic_count> make_all()
{
    std::array<const Layout*, basic_count> layouts{};
    for (std::size_t basic = 0; basic < basic_count; ++basic) {
        layouts[basic] = make(static_cast<Basic>(basic));
    }
    return layouts;
}

} // namespace

const Layout& basic_layout(Basic basic)
{
    static const std::array<const Layout*, basic_count> layouts = make_all();
    return *layouts[static_cast<std::size_t>(basic)];
}

} // namespace sidelight::datatype
