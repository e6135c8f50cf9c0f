// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/library.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string_view>

#include <dlfcn.h>

#include "base/kept_signals.hpp"
#include "base/log.hpp"

namespace sidelight::fabric::ucx {
namespace {

template <typename Function>
bool bind(void* handle, const char* name, Function*& function)
{
    function = reinterpret_cast<Function*>(dlsym(handle, name));
    if (function == nullptr) {
        log(LogLevel::error,
            "no network: UCX has no %s, as 1.%u and later have; until then windows that need "
            "messages are left to the host MPI",
            name, Library::oldest_minor);
    }
    return function != nullptr;
}

bool bind_worker(void* handle, Library& ucx)
{
    return bind(handle, "ucp_worker_create", ucx.worker_create) &&
           bind(handle, "ucp_worker_destroy", ucx.worker_destroy) &&
           bind(handle, "ucp_worker_query", ucx.worker_query) &&
           bind(handle, "ucp_worker_release_address", ucx.worker_release_address) &&
           bind(handle, "ucp_worker_progress", ucx.worker_progress) &&
           bind(handle, "ucp_worker_get_efd", ucx.worker_get_efd) &&
           bind(handle, "ucp_worker_arm", ucx.worker_arm) &&
           bind(handle, "ucp_worker_flush_nbx", ucx.worker_flush) &&
           bind(handle, "ucp_worker_set_am_recv_handler", ucx.worker_set_am_recv_handler);
}

bool bind_messages(void* handle, Library& ucx)
{
    return bind(handle, "ucp_ep_create", ucx.ep_create) &&
           bind(handle, "ucp_ep_close_nbx", ucx.ep_close) &&
           bind(handle, "ucp_am_send_nbx", ucx.am_send) &&
           bind(handle, "ucp_am_recv_data_nbx", ucx.am_recv_data) &&
           bind(handle, "ucp_am_data_release", ucx.am_data_release) &&
           bind(handle, "ucp_request_check_status", ucx.request_check_status) &&
           bind(handle, "ucp_request_free", ucx.request_free) &&
           bind(handle, "ucs_status_string", ucx.status_string);
}

bool bind_access(void* handle, Library& ucx)
{
    return bind(handle, "ucp_mem_map", ucx.mem_map) &&
           bind(handle, "ucp_mem_unmap", ucx.mem_unmap) &&
           bind(handle, "ucp_rkey_pack", ucx.rkey_pack) &&
           bind(handle, "ucp_rkey_buffer_release", ucx.rkey_buffer_release) &&
           bind(handle, "ucp_ep_rkey_unpack", ucx.ep_rkey_unpack) &&
           bind(handle, "ucp_rkey_destroy", ucx.rkey_destroy) &&
           bind(handle, "ucp_put_nbx", ucx.put) && bind(handle, "ucp_get_nbx", ucx.get) &&
           bind(handle, "ucp_ep_flush_nbx", ucx.ep_flush) &&
           bind(handle, "ucp_worker_fence", ucx.worker_fence) &&
           bind(handle, "ucp_ep_print_info", ucx.ep_print_info) &&
           bind(handle, "ucp_context_print_info", ucx.context_print_info);
}

bool bind_all(void* handle, Library& ucx)
{
    return bind(handle, "ucp_get_version", ucx.get_version) &&
           bind(handle, "ucp_config_read", ucx.config_read) &&
           bind(handle, "ucp_config_modify", ucx.config_modify) &&
           bind(handle, "ucp_config_release", ucx.config_release) &&
           bind(handle, "ucp_init_version", ucx.init_version) &&
           bind(handle, "ucp_cleanup", ucx.cleanup) && bind_worker(handle, ucx) &&
           bind_messages(handle, ucx) && bind_access(handle, ucx);
}

/// What `print` prints.
template <typename Print>
std::string printed(Print print)
{
    char* text = nullptr;
    std::size_t bytes = 0;
    std::FILE* stream = open_memstream(&text, &bytes);
    if (stream == nullptr) {
        return {};
    }
    print(stream);
    std::fclose(stream);
    std::string result(text, bytes);
    std::free(text);
    return result;
}

/// The name that ends at the first `/` of each line, if the line has `mark`. "lane[0]:  0:tcp/lo.0
/// md[0] -> md[0]/tcp/sysdev[255]", "resource 0 : md 0 dev 0 flags -- self/memory0": both name
/// their transport so.
std::vector<std::string> names_in(const std::string& text, std::string_view mark)
{
    std::vector<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t slash = line.find('/');
        if (line.find(mark) == std::string::npos || slash == std::string::npos) {
            continue;
        }
        const std::size_t before = line.find_last_of(" :", slash);
        names.push_back(line.substr(before + 1, slash - before - 1));
    }
    return names;
}

bool new_enough(const Library& ucx)
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    ucx.get_version(&major, &minor, &release);
    if (major == Library::oldest_major && minor >= Library::oldest_minor) {
        return true;
    }
    log(LogLevel::error,
        "no network: UCX is %u.%u.%u, and it takes 1.%u or later; until then windows that need "
        "messages are left to the host MPI",
        major, minor, release, Library::oldest_minor);
    return false;
}

/// From 1.17 on a setting of a transport has the transport's name in front.
constexpr unsigned long_names_from_minor = 17;

constexpr const char* library_name = "libucp.so.0";

/// The UCX that the process has, most likely through its host MPI, or else a new one. There cannot
/// be two: the second libucp would be bound to the parts of the first, which have the same names.
void* open_library(const std::string& path)
{
    void* present = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (present != nullptr) {
        if (path != "auto") {
            log(LogLevel::warn, "the process has a UCX already: %s is not loaded", path.c_str());
        }
        return present;
    }
    const KeptSignals kept;
    return dlopen(path == "auto" ? library_name : path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

bool load_into(Library& ucx, const std::string& path)
{
    void* handle = open_library(path);
    if (handle == nullptr) {
        log(LogLevel::error,
            "cannot load UCX: %s; install it, or name its libucp.so.0 in SIDELIGHT_UCX; until then "
            "windows that need messages are left to the host MPI",
            dlerror());
        return false;
    }
    return bind_all(handle, ucx) && new_enough(ucx);
}

} // namespace

const Library* Library::load(const std::string& path)
{
    static std::once_flag once;
    static Library library;
    static bool loaded = false;
    std::call_once(once, [&path] { loaded = load_into(library, path); });
    return loaded ? &library : nullptr;
}

std::string Library::transport_setting(const char* transport, const char* name) const
{
    // Which name it is only the version says: before 1.20 any name is taken, and the one that is
    // not known ignored, with a warning.
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    get_version(&major, &minor, &release);
    return minor < long_names_from_minor ? name : std::string(transport) + '_' + name;
}

std::vector<std::string> Library::transports(ucp_ep_h endpoint) const
{
    return names_in(printed([&](std::FILE* to) { ep_print_info(endpoint, to); }), "lane[");
}

std::vector<std::string> Library::transports(ucp_context_h context) const
{
    return names_in(printed([&](std::FILE* to) { context_print_info(context, to); }), "resource");
}

std::string Library::version() const
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    get_version(&major, &minor, &release);
    return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(release);
}

std::string Library::path() const
{
    Dl_info where{};
    const bool known = dladdr(reinterpret_cast<void*>(get_version), &where) != 0;
    return known && where.dli_fname != nullptr ? where.dli_fname : library_name;
}

} // namespace sidelight::fabric::ucx
