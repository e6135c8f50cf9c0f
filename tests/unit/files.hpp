// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace sidelight::unit {

/// A directory of its own, with files in it.
class Files {
public:
    Files()
    {
        std::string name = testing::TempDir() + "files-XXXXXX";
        root_ = mkdtemp(name.data()) != nullptr ? name : "";
    }
    ~Files() { std::filesystem::remove_all(root_); }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    std::string write(const std::string& name, const std::string& text) const
    {
        const std::filesystem::path path = root_ / name;
        std::filesystem::create_directories(path.parent_path());
        FILE* file = std::fopen(path.c_str(), "we");
        std::fputs(text.c_str(), file);
        std::fclose(file);
        return path;
    }
    [[nodiscard]] std::string root() const { return root_; }

private:
    std::filesystem::path root_;
};

} // namespace sidelight::unit
