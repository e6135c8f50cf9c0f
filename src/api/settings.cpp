// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings.hpp"

#include "api/entry.hpp"

namespace {

/// A JSON string. The texts are ours, but a value may hold anything.
void append_string(std::string& json, const char* text)
{
    constexpr char digits[] = "0123456789abcdef";
    json += '"';
    for (; *text != '\0'; ++text) {
        const auto c = static_cast<unsigned char>(*text);
        if (c == '"' || c == '\\') {
            json += '\\';
        }
        if (c < ' ') {
            json.append("\\u00").append(1, digits[c >> 4]).append(1, digits[c & 15]);
        } else {
            json += *text;
        }
    }
    json += '"';
}

void append_member(std::string& json, const char* name, const char* text)
{
    append_string(json, name);
    json += ": ";
    if (text == nullptr) {
        json += "null";
    } else {
        append_string(json, text);
    }
}

} // namespace

/// The settings in force, for `sidelight info`: a JSON list of objects with the members variable,
/// info_key (null: none), default, value and meaning. The text lives as long as the library.
SIDELIGHT_ENTRY const char* sidelight_settings_json(void)
{
    static const std::string text = [] {
        std::string json = "[";
        for (const sidelight::SettingEntry& entry : sidelight::setting_entries()) {
            const std::string value = entry.show(sidelight::settings());
            json += json.size() > 1 ? ",\n{" : "\n{";
            append_member(json, "variable", entry.variable);
            append_member(json += ", ", "info_key", entry.info_key);
            append_member(json += ", ", "default", entry.fallback);
            append_member(json += ", ", "value", value.c_str());
            append_member(json += ", ", "meaning", entry.meaning);
            json += "}";
        }
        return json + "\n]\n";
    }();
    return text.c_str();
}
