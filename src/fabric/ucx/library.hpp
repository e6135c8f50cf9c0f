// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <ucp/api/ucp.h>

namespace sidelight::fabric::ucx {

/// The functions of a UCX that is loaded at run time, and all that is known of its versions: what
/// is compiled here works with any UCX from `oldest` on, whichever headers it was compiled with.
struct Library {
    static constexpr unsigned oldest_major = 1;
    static constexpr unsigned oldest_minor = 13;

    decltype(&::ucp_get_version) get_version = nullptr;
    decltype(&::ucp_config_read) config_read = nullptr;
    decltype(&::ucp_config_modify) config_modify = nullptr;
    decltype(&::ucp_config_release) config_release = nullptr;
    decltype(&::ucp_init_version) init_version = nullptr;
    decltype(&::ucp_cleanup) cleanup = nullptr;
    decltype(&::ucp_worker_create) worker_create = nullptr;
    decltype(&::ucp_worker_destroy) worker_destroy = nullptr;
    decltype(&::ucp_worker_query) worker_query = nullptr;
    decltype(&::ucp_worker_release_address) worker_release_address = nullptr;
    decltype(&::ucp_worker_progress) worker_progress = nullptr;
    decltype(&::ucp_worker_get_efd) worker_get_efd = nullptr;
    decltype(&::ucp_worker_arm) worker_arm = nullptr;
    decltype(&::ucp_worker_flush_nbx) worker_flush = nullptr;
    decltype(&::ucp_worker_fence) worker_fence = nullptr;
    decltype(&::ucp_worker_set_am_recv_handler) worker_set_am_recv_handler = nullptr;
    decltype(&::ucp_ep_create) ep_create = nullptr;
    decltype(&::ucp_ep_close_nbx) ep_close = nullptr;
    decltype(&::ucp_am_send_nbx) am_send = nullptr;
    decltype(&::ucp_am_recv_data_nbx) am_recv_data = nullptr;
    decltype(&::ucp_am_data_release) am_data_release = nullptr;
    decltype(&::ucp_mem_map) mem_map = nullptr;
    decltype(&::ucp_mem_unmap) mem_unmap = nullptr;
    decltype(&::ucp_rkey_pack) rkey_pack = nullptr;
    decltype(&::ucp_rkey_buffer_release) rkey_buffer_release = nullptr;
    decltype(&::ucp_ep_rkey_unpack) ep_rkey_unpack = nullptr;
    decltype(&::ucp_rkey_destroy) rkey_destroy = nullptr;
    decltype(&::ucp_put_nbx) put = nullptr;
    decltype(&::ucp_get_nbx) get = nullptr;
    decltype(&::ucp_ep_flush_nbx) ep_flush = nullptr;
    decltype(&::ucp_ep_print_info) ep_print_info = nullptr;
    decltype(&::ucp_context_print_info) context_print_info = nullptr;
    decltype(&::ucp_request_check_status) request_check_status = nullptr;
    decltype(&::ucp_request_free) request_free = nullptr;
    const char* (*status_string)(ucs_status_t) = nullptr;

    /// Loads it at the first call, for good: a library with threads and hooks is never unloaded.
    /// `path` is that of libucp.so.0, or "auto" for the one that the process has or the loader
    /// finds. Null: the log says why. A later call answers the same library, whatever the path.
    [[nodiscard]] static const Library* load(const std::string& path);

    [[nodiscard]] std::string version() const;

    /// The file that it is.
    [[nodiscard]] std::string path() const;

    /// The names of the transports that an endpoint has chosen, and of those that a context could
    /// choose from. What UCX prints for people is the same in all versions; what it answers to
    /// programs is not.
    [[nodiscard]] std::vector<std::string> transports(ucp_ep_h endpoint) const;
    [[nodiscard]] std::vector<std::string> transports(ucp_context_h context) const;

    /// What config_modify calls a setting of one transport.
    [[nodiscard]] std::string transport_setting(const char* transport, const char* name) const;

    /// ucp_init for a program that needs no more than `oldest`.
    ucs_status_t init(const ucp_params_t* params, const ucp_config_t* config,
                      ucp_context_h* context) const noexcept
    {
        return init_version(oldest_major, oldest_minor, params, config, context);
    }
};

} // namespace sidelight::fabric::ucx
