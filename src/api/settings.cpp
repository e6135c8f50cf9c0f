// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings.hpp"

#include <nlohmann/json.hpp>

/// The settings in force, for `sidelight info`: a list of objects with the members variable,
/// info_key (null: none), default, value and meaning. The text lives as long as the library.
extern "C" [[gnu::visibility("default")]] const char* sidelight_settings_json(void)
{
    static const std::string text = [] {
        auto list = nlohmann::ordered_json::array();
        for (const sidelight::SettingEntry& entry : sidelight::setting_entries()) {
            nlohmann::ordered_json object;
            object["variable"] = entry.variable;
            object["info_key"] = nullptr;
            if (entry.info_key != nullptr) {
                object["info_key"] = entry.info_key;
            }
            object["default"] = entry.fallback;
            object["value"] = entry.show(sidelight::settings());
            object["meaning"] = entry.meaning;
            list.push_back(std::move(object));
        }
        return list.dump();
    }();
    return text.c_str();
}
