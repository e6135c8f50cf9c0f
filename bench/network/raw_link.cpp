// SPDX-License-Identifier: BSD-3-Clause
#include "link.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/settings.hpp"
#include "fabric/ucx/library.hpp"

namespace bench {
namespace {

using sidelight::fabric::ucx::Library;

constexpr unsigned small_id = 1;
constexpr unsigned big_id = 2;

void require(bool condition, const char *what)
{
    if (!condition) {
        std::fprintf(stderr, "network: %s\n", what);
        std::exit(1);
    }
}

class RawLink final : public Link {
public:
    RawLink() : ucx_(Library::load(sidelight::settings().ucx)), out_(big_bytes), in_(big_bytes)
    {
        require(ucx_ != nullptr, "no UCX");
        ucp_config_t *config = nullptr;
        require(ucx_->config_read(nullptr, nullptr, &config) == UCS_OK, "no settings of UCX");
        if (sidelight::settings().network != "auto") {
            ucx_->config_modify(config, "TLS", sidelight::settings().network.c_str());
        }
        ucp_params_t params{};
        params.field_mask = UCP_PARAM_FIELD_FEATURES;
        params.features = UCP_FEATURE_AM;
        require(ucx_->init(&params, config, &context_) == UCS_OK, "no context of UCX");
        ucp_worker_params_t worker{};
        worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        worker.thread_mode = UCS_THREAD_MODE_SINGLE;
        require(ucx_->worker_create(context_, &worker, &worker_) == UCS_OK, "no worker of UCX");
        handle(small_id, on_small);
        handle(big_id, on_big);
        ucp_worker_attr_t attributes{};
        attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS;
        require(ucx_->worker_query(worker_, &attributes) == UCS_OK, "no address");
        const auto *bytes = reinterpret_cast<const std::byte *>(attributes.address);
        address_.assign(bytes, bytes + attributes.address_length);
    }

    [[nodiscard]] std::span<const std::byte> address() const override { return address_; }

    void connect(std::span<const std::byte> address) override
    {
        ucp_ep_params_t params{};
        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        params.address = reinterpret_cast<const ucp_address_t *>(address.data());
        require(ucx_->ep_create(worker_, &params, &endpoint_) == UCS_OK, "no endpoint");
    }

    void send_small(long value) override
    {
        ucp_request_param_t param{};
        ucs_status_ptr_t request =
            ucx_->am_send(endpoint_, small_id, nullptr, 0, &value, sizeof value, &param);
        if (UCS_PTR_IS_PTR(request)) { // rare: `value` must stay until it is over
            while (ucx_->request_check_status(request) == UCS_INPROGRESS) {
                ucx_->worker_progress(worker_);
            }
            ucx_->request_free(request);
        }
    }

    void push() override {}

    void start_big() override
    {
        ucp_request_param_t param{};
        param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        param.cb.send = on_sent;
        param.user_data = this;
        ucs_status_ptr_t request =
            ucx_->am_send(endpoint_, big_id, nullptr, 0, out_.data(), out_.size(), &param);
        big_leaving += UCS_PTR_IS_PTR(request) ? 1 : 0;
    }

    void poll() override { ucx_->worker_progress(worker_); }

    void close() override
    {
        ucp_request_param_t param{};
        ucs_status_ptr_t request = ucx_->worker_flush(worker_, &param);
        while (UCS_PTR_IS_PTR(request) && ucx_->request_check_status(request) == UCS_INPROGRESS) {
            ucx_->worker_progress(worker_);
        }
    }

private:
    void handle(unsigned id, ucp_am_recv_callback_t callback)
    {
        ucp_am_handler_param_t handler{};
        handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                             UCP_AM_HANDLER_PARAM_FIELD_ARG;
        handler.id = id;
        handler.cb = callback;
        handler.arg = this;
        require(ucx_->worker_set_am_recv_handler(worker_, &handler) == UCS_OK, "no handler");
    }

    static ucs_status_t on_small(void *link, const void *, size_t, void *data, size_t,
                                 const ucp_am_recv_param_t *)
    {
        auto& self = *static_cast<RawLink *>(link);
        long value = 0;
        std::memcpy(&value, data, sizeof value);
        self.note_small(value);
        return UCS_OK;
    }

    static ucs_status_t on_big(void *link, const void *, size_t, void *data, size_t bytes,
                               const ucp_am_recv_param_t *param)
    {
        auto& self = *static_cast<RawLink *>(link);
        if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
            std::memcpy(self.in_.data(), data, bytes);
            ++self.big_received;
            return UCS_OK;
        }
        ucp_request_param_t receive{};
        receive.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        receive.cb.recv_am = on_received;
        receive.user_data = &self;
        ucs_status_ptr_t request =
            self.ucx_->am_recv_data(self.worker_, data, self.in_.data(), bytes, &receive);
        self.big_received += request == nullptr ? 1 : 0;
        return UCS_INPROGRESS;
    }

    static void on_received(void *request, ucs_status_t, size_t, void *link)
    {
        auto& self = *static_cast<RawLink *>(link);
        ++self.big_received;
        self.ucx_->request_free(request);
    }

    static void on_sent(void *request, ucs_status_t, void *link)
    {
        auto& self = *static_cast<RawLink *>(link);
        --self.big_leaving;
        self.ucx_->request_free(request);
    }

    const Library *ucx_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    ucp_ep_h endpoint_ = nullptr;
    std::vector<std::byte> address_;
    std::vector<std::byte> out_;
    std::vector<std::byte> in_;
};

} // namespace

std::unique_ptr<Link> open_raw_link() { return std::make_unique<RawLink>(); }

} // namespace bench
