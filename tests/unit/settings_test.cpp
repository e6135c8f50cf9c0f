// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "base/status.hpp"
#include "base/whole_number.hpp"

namespace sidelight {
namespace {

/// The environment of the test; read through a plain function.
std::map<std::string, std::string>& variables()
{
    static std::map<std::string, std::string> all;
    return all;
}

const char* variable(const char* name)
{
    const auto found = variables().find(name);
    return found == variables().end() ? nullptr : found->second.c_str();
}

Settings with(const std::string& name, const std::string& value)
{
    variables() = {{name, value}};
    return read_settings(variable);
}

const SettingEntry& entry(const std::string& name)
{
    for (const SettingEntry& one : setting_entries()) {
        if (one.variable == name) {
            return one;
        }
    }
    throw std::out_of_range(name);
}

struct Switch {
    const char* name;
    bool Settings::*member;
    bool fallback;
};

constexpr Switch switches[] = {
    {"SIDELIGHT_ENABLE", &Settings::enable, true},
    {"SIDELIGHT_SLEEP", &Settings::sleep, true},
    {"SIDELIGHT_ACCESS_AFTER_ACCESS_REORDER", &Settings::access_after_access, false},
    {"SIDELIGHT_ACCESS_AFTER_EXPOSURE_REORDER", &Settings::access_after_exposure, false},
    {"SIDELIGHT_EXPOSURE_AFTER_EXPOSURE_REORDER", &Settings::exposure_after_exposure, false},
    {"SIDELIGHT_EXPOSURE_AFTER_ACCESS_REORDER", &Settings::exposure_after_access, false},
    {"SIDELIGHT_NO_EXCLUSIVE_LOCKS", &Settings::no_exclusive_locks, false},
};

TEST(Settings, SwitchesTakeYesAndNoAndNothingElse)
{
    for (const Switch& one : switches) {
        SCOPED_TRACE(one.name);
        for (const char* yes : {"1", "true", "yes", "on"}) {
            EXPECT_TRUE(with(one.name, yes).*one.member) << yes;
        }
        for (const char* no : {"0", "false", "no", "off"}) {
            EXPECT_FALSE(with(one.name, no).*one.member) << no;
        }
        for (const char* bad : {"", "2", "-1", "TRUE", " 1", "1 ", "yess", "maybe"}) {
            EXPECT_EQ(with(one.name, bad).*one.member, one.fallback) << '"' << bad << '"';
        }
    }
}

TEST(Settings, ASwitchSetsItselfOnly)
{
    for (const Switch& one : switches) {
        const Settings settings = with(one.name, one.fallback ? "0" : "1");
        for (const Switch& other : switches) {
            EXPECT_EQ(settings.*other.member, other.fallback != (&other == &one)) << one.name;
        }
    }
}

TEST(Settings, ProgressTakesOneOfFourWords)
{
    EXPECT_EQ(with("SIDELIGHT_PROGRESS", "calls").progress, Progress::calls);
    EXPECT_EQ(with("SIDELIGHT_PROGRESS", "thread").progress, Progress::thread);
    EXPECT_EQ(with("SIDELIGHT_PROGRESS", "smart").progress, Progress::smart);
    for (const char* automatic : {"auto", "", "threads", "1"}) {
        EXPECT_EQ(with("SIDELIGHT_PROGRESS", automatic).progress, Progress::automatic);
    }
    EXPECT_EQ(entry("SIDELIGHT_PROGRESS").show(with("SIDELIGHT_PROGRESS", "thread")), "thread");
}

TEST(Settings, SpinTakesACountOrAuto)
{
    EXPECT_EQ(with("SIDELIGHT_SPIN", "0").spin, 0);
    EXPECT_EQ(with("SIDELIGHT_SPIN", "2147483647").spin, 2147483647);
    EXPECT_EQ(with("SIDELIGHT_SPIN", "auto").spin, -1);
    for (const char* bad : {"", "-1", "2147483648", "1e3", "12x", " 12", "Auto", "0x10"}) {
        EXPECT_EQ(with("SIDELIGHT_SPIN", bad).spin, -1) << '"' << bad << '"';
    }
}

TEST(Settings, LogTakesTheNamesOfLevels)
{
    for (const LogLevel level :
         {LogLevel::none, LogLevel::error, LogLevel::warn, LogLevel::info, LogLevel::debug}) {
        EXPECT_EQ(with("SIDELIGHT_LOG", log_level_name(level)).log, level);
    }
    for (const char* bad : {"", "Error", "warning", "3"}) {
        EXPECT_EQ(with("SIDELIGHT_LOG", bad).log, LogLevel::error) << bad;
    }
    EXPECT_EQ(log_level("nonsense", LogLevel::info), LogLevel::info);
}

TEST(Settings, SharingMemoryTakesFourWords)
{
    EXPECT_EQ(with("SIDELIGHT_SHARE_MEMORY", "auto").share_memory, SharePolicy::automatic);
    EXPECT_EQ(with("SIDELIGHT_SHARE_MEMORY", "always").share_memory, SharePolicy::always);
    EXPECT_EQ(with("SIDELIGHT_SHARE_MEMORY", "inplace").share_memory, SharePolicy::in_place);
    EXPECT_EQ(with("SIDELIGHT_SHARE_MEMORY", "never").share_memory, SharePolicy::never);
    for (const char* bad : {"", "Auto", "yes", "0", "alway", "nevermore"}) {
        EXPECT_EQ(with("SIDELIGHT_SHARE_MEMORY", bad).share_memory, SharePolicy::automatic) << bad;
    }
    EXPECT_EQ(share_policy("nonsense", SharePolicy::never), SharePolicy::never);
    EXPECT_STREQ(entry("SIDELIGHT_SHARE_MEMORY").info_key, "sidelight_share_memory");
}

TEST(Settings, KernelCopyTakesANumberOrTwoWords)
{
    EXPECT_EQ(with("SIDELIGHT_KERNEL_COPY", "0").kernel_copy, 0);
    EXPECT_EQ(with("SIDELIGHT_KERNEL_COPY", "65536").kernel_copy, 65536);
    EXPECT_EQ(with("SIDELIGHT_KERNEL_COPY", "never").kernel_copy, kernel_copy_never);
    for (const char* bad : {"", "auto", "-1", "-2", "1k", "always", "2147483648"}) {
        EXPECT_EQ(with("SIDELIGHT_KERNEL_COPY", bad).kernel_copy, kernel_copy_as_measured) << bad;
    }
}

TEST(Settings, WithoutAnyTheFallbacksHold)
{
    variables().clear();
    const Settings settings = read_settings(variable);
    const Settings plain;
    for (const SettingEntry& one : setting_entries()) {
        EXPECT_EQ(one.show(settings), one.fallback) << one.variable;
        EXPECT_EQ(one.show(settings), one.show(plain)) << one.variable;
    }
}

TEST(Settings, WhatIsShownReadsBackTheSame)
{
    for (const SettingEntry& one : setting_entries()) {
        SCOPED_TRACE(one.variable);
        for (const char* value : {"0", "1", "auto", "7", "debug", "none"}) {
            const std::string shown = one.show(with(one.variable, value));
            EXPECT_EQ(one.show(with(one.variable, shown)), shown);
        }
        EXPECT_STRNE(one.meaning, "");
    }
}

TEST(Settings, ABadValueLeavesTheOneBeforeIt)
{
    Settings settings;
    entry("SIDELIGHT_SPIN").read(settings, "12");
    entry("SIDELIGHT_SPIN").read(settings, "many");
    EXPECT_EQ(settings.spin, 12);
    entry("SIDELIGHT_LOG").read(settings, "debug");
    entry("SIDELIGHT_LOG").read(settings, "loud");
    EXPECT_EQ(settings.log, LogLevel::debug);
    entry("SIDELIGHT_SLEEP").read(settings, "0");
    entry("SIDELIGHT_SLEEP").read(settings, "perhaps");
    EXPECT_FALSE(settings.sleep);
}

TEST(Settings, TheReorderKeysAreThoseOfTheWindow)
{
    int keys = 0;
    for (const SettingEntry& one : setting_entries()) {
        const std::string key = one.info_key != nullptr ? one.info_key : "";
        if (key.find("_REORDER") != std::string::npos) {
            EXPECT_EQ("SIDELIGHT_" + key.substr(8), one.variable);
            ++keys;
        }
    }
    EXPECT_EQ(keys, 4);
}

TEST(Settings, TheLimitOfATraceIsAtLeastAMegabyte)
{
    EXPECT_EQ(with("SIDELIGHT_TRACE_LIMIT", "1").trace_limit, 1);
    for (const char* bad : {"", "0", "-1", "2G", "12 "}) {
        EXPECT_EQ(with("SIDELIGHT_TRACE_LIMIT", bad).trace_limit, 1024) << '"' << bad << '"';
    }
    EXPECT_EQ(entry("SIDELIGHT_TRACE_LIMIT").show(with("SIDELIGHT_TRACE_LIMIT", "7")), "7");
}

TEST(EarlyReturn, TakesANumberOfBytesWithAUnit)
{
    EXPECT_EQ(early_return_bytes("0", 1), 0U);
    EXPECT_EQ(early_return_bytes("17", 1), 17U);
    EXPECT_EQ(early_return_bytes("3K", 1), std::size_t{3} << 10);
    EXPECT_EQ(early_return_bytes("3M", 1), std::size_t{3} << 20);
    EXPECT_EQ(early_return_bytes("3G", 1), std::size_t{3} << 30);
    EXPECT_EQ(early_return_bytes("off", 1), 0U);
    EXPECT_EQ(early_return_bytes("auto", 1), early_return_auto);
    for (const char* bad : {"", "K", "KK", "1KK", "1T", "1k", "-1", " 1", "1 ", "0x10",
                            "18446744073709551616", "18014398509481984K"}) {
        EXPECT_EQ(early_return_bytes(bad, 42), 42U) << '"' << bad << '"';
    }
}

TEST(MinimumAlignment, IsAPowerOfTwoUpToAGibibyte)
{
    EXPECT_EQ(minimum_alignment("1"), 1U);
    EXPECT_EQ(minimum_alignment("4096"), 4096U);
    EXPECT_EQ(minimum_alignment("1073741824"), 1073741824U);
    for (const char* bad : {"", "0", "-8", "3", "2147483648", "64x", " 64", "64 ", "4K", "page"}) {
        EXPECT_EQ(minimum_alignment(bad), std::nullopt) << '"' << bad << '"';
    }
}

TEST(WholeNumber, IsTheWholeText)
{
    EXPECT_EQ(whole_number<int>("-7"), -7);
    EXPECT_EQ(whole_number<unsigned>("-7"), std::nullopt);
    EXPECT_EQ(whole_number<unsigned char>("255"), 255);
    EXPECT_EQ(whole_number<unsigned char>("256"), std::nullopt);
    for (const char* bad : {"", " 7", "7 ", "7,", "+7", "x"}) {
        EXPECT_EQ(whole_number<int>(bad), std::nullopt) << '"' << bad << '"';
    }
}

TEST(StatusNames, AreAllDifferent)
{
    std::map<std::string, int> names;
    for (int status = 0; status <= static_cast<int>(Status::other); ++status) {
        ++names[name(static_cast<Status>(status))];
    }
    EXPECT_EQ(names.size(), static_cast<std::size_t>(Status::other) + 1);
    EXPECT_STREQ(name(Status::ok), "ok");
    EXPECT_STREQ(name(Status::rma_range), "rma_range");
    EXPECT_STREQ(name(Status::other), "other");
}

} // namespace
} // namespace sidelight
