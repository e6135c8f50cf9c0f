// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/worker.hpp"

#include <stdexcept>

#include "base/log.hpp"
#include "fabric/ucx/frames.hpp"
#include "fabric/ucx/transports.hpp"

namespace sidelight::fabric::ucx {
namespace {

void require(const Library& ucx, ucs_status_t status, const char* what)
{
    if (status != UCS_OK) {
        throw std::runtime_error(std::string(what) + ": " + ucx.status_string(status));
    }
}

} // namespace

Worker::Worker(const Library& ucx, const std::string& transports)
    : ucx_(ucx), transports_(transports), may_share_memory_(ucx::may_share_memory(transports))
{
    try {
        make_context(false);
        hardware_ = have_hardware(ucx_.transports(context_));
        if (hardware_) {
            destroy();
            make_context(true);
        }
        make_worker();
    } catch (...) {
        destroy();
        throw;
    }
}

void Worker::make_context(bool registrations)
{
    ucp_config_t* config = nullptr;
    require(ucx_, ucx_.config_read(nullptr, nullptr, &config), "cannot read UCX's settings");
    configure(ucx_, config, transports_, registrations);
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | UCP_FEATURE_RMA;
    const ucs_status_t status = ucx_.init(&params, config, &context_);
    ucx_.config_release(config);
    require(ucx_, status, "cannot start UCX");
}

void Worker::make_worker()
{
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
    params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    params.am_alignment = frame_alignment;
    require(ucx_, ucx_.worker_create(context_, &params, &worker_), "cannot make UCX's worker");
    require(ucx_, ucx_.worker_get_efd(worker_, &event_fd_), "UCX cannot be slept at");
    ucp_worker_attr_t attributes{};
    attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
    require(ucx_, ucx_.worker_query(worker_, &attributes), "cannot ask for UCX's address");
    max_header_ = attributes.max_am_header;
    const auto* bytes = reinterpret_cast<const std::byte*>(attributes.address);
    address_.assign(bytes, bytes + attributes.address_length);
    ucx_.worker_release_address(worker_, attributes.address);
}

void Worker::receive_messages(unsigned id, ucp_am_recv_callback_t callback, void* owner)
{
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                         UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = id;
    handler.cb = callback;
    handler.arg = owner;
    require(ucx_, ucx_.worker_set_am_recv_handler(worker_, &handler),
            "cannot receive active messages");
}

/// What is not used yet, UCX makes ready to tell of a first connection in a turn without work, and
/// arms without complaint before; busy, it has taken what told of one, and wants a turn. It reads
/// descriptors of its own, which the program may have closed.
Arming Worker::arm() noexcept
{
    if (!at_rest_) {
        return Arming::news;
    }
    const ucs_status_t status = ucx_.worker_arm(worker_);
    if (status == UCS_OK || status == UCS_ERR_BUSY) {
        at_rest_ = status == UCS_OK;
        return at_rest_ ? Arming::armed : Arming::news;
    }
    log(LogLevel::warn, "sleepers do not hear of messages: %s", ucx_.status_string(status));
    return Arming::refused;
}

void Worker::start_flush() noexcept
{
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = on_flushed;
    param.user_data = this;
    flushing_ = UCS_PTR_IS_PTR(ucx_.worker_flush(worker_, &param));
}

void Worker::on_flushed(void* request, ucs_status_t /*status*/, void* data) noexcept
{
    auto& worker = *static_cast<Worker*>(data);
    worker.ucx_.request_free(request);
    worker.flushing_ = false;
}

void Worker::destroy() noexcept
{
    if (worker_ != nullptr) {
        ucx_.worker_destroy(worker_);
    }
    if (context_ != nullptr) {
        ucx_.cleanup(context_);
    }
    leave();
}

void Worker::leave() noexcept
{
    worker_ = nullptr;
    context_ = nullptr;
}

std::string Worker::description() const
{
    return "UCX " + ucx_.version() + ", " + ucx_.path() + ", transports " + transports_ +
           (hardware_ ? ", puts and gets by hardware" : ", puts and gets by messages");
}

} // namespace sidelight::fabric::ucx
