// SPDX-License-Identifier: BSD-3-Clause
#include "host/control_groups.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text_file.hpp"

namespace sidelight::host {
namespace {

/// A group and those above it.
void add_with_parents(std::vector<std::string>& folders, const std::string& root,
                      std::string_view group)
{
    for (std::size_t end = group.size(); end != 0 && end != std::string_view::npos;
         end = group.rfind('/', end - 1)) {
        folders.push_back(root + std::string(group.substr(0, end)));
    }
}

/// Whether it is one of those in a list with commas. The second version lists none.
bool is_in(std::string_view list, const std::string& controller)
{
    return (',' + std::string(list) + ',').find(',' + controller + ',') != std::string::npos;
}

} // namespace

std::vector<std::string> limiting_groups(const ControlGroups& where, const std::string& controller)
{
    const std::string& second = where.root;
    const std::string first = where.root + "/" + controller;
    std::vector<std::string> folders{second, first};
    const TextFile text = open_text(where.groups);
    std::array<char, 4500> line{};
    while (text != nullptr && std::fgets(line.data(), line.size(), text.get()) != nullptr) {
        // "number:controllers:path"
        std::string_view rest = line.data();
        rest = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.find(':') + 1, rest.size()));
        const std::string_view controllers = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(controllers.size() + 1, rest.size()));
        if (controllers.empty() || is_in(controllers, controller)) {
            add_with_parents(folders, controllers.empty() ? second : first, rest);
        }
    }
    return folders;
}

} // namespace sidelight::host
