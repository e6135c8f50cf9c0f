// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/ucx_fabric.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include "base/log.hpp"
#include "fabric/ucx/active_messages.hpp"

namespace sidelight::fabric {
namespace ucx {
namespace {

void require(const Library& ucx, ucs_status_t status, const char* what)
{
    if (status != UCS_OK) {
        throw std::runtime_error(std::string(what) + ": " + ucx.status_string(status));
    }
}

/// Whether UCX may choose one of the transports named `words`, left the choice of `transports`. It
/// warns of settings that none of its transports has.
bool may_choose(std::string_view transports, std::initializer_list<std::string_view> words)
{
    return transports.empty() || transports.front() == '^' ||
           transports.find("all") != std::string_view::npos ||
           std::any_of(words.begin(), words.end(), [&](std::string_view word) {
               return transports.find(word) != std::string_view::npos;
           });
}

/// What the user lets UCX choose of, as UCX_TLS; empty: as it likes.
std::string chosen_transports(const std::string& transports)
{
    const char* inherited = std::getenv("UCX_TLS");
    return transports != "auto" ? transports : inherited != nullptr ? inherited : "";
}

bool may_share_memory(std::string_view transports)
{
    return may_choose(transports, {"shm", "sm", "mm", "posix", "sysv"});
}

/// Settings of our context alone: neither the environment nor other users of UCX see them.
/// `registrations`: memory is registered with hardware, and worth a cache.
void configure(const Library& ucx, ucp_config_t* config, const std::string& transports,
               bool registrations)
{
    const auto set = [&](const char* name, const char* value) {
        const ucs_status_t status = ucx.config_modify(config, name, value);
        if (status != UCS_OK) {
            log(LogLevel::warn, "UCX: %s=%s: %s", name, value, ucx.status_string(status));
        }
    };
    const std::string chosen = chosen_transports(transports);
    if (transports != "auto") {
        set("TLS", transports.c_str());
    }
    set("KEEPALIVE_INTERVAL", "1s");
    if (!registrations && std::getenv("UCX_RCACHE_ENABLE") == nullptr) {
        // It notes each munmap of the program until it is used, and here it never is.
        set("RCACHE_ENABLE", "n");
    }
    if (may_share_memory(chosen)) {
        // Without it, endpoints that report errors do not use shared memory.
        set("MM_ERROR_HANDLING", "y");
        // A batch with a few small operations then lies in the queue itself.
        set("MM_FIFO_ELEM_SIZE", "256");
    }
    if (may_choose(chosen, {"tcp"})) {
        // Endpoints that report errors copy the payload of zero-copy messages through these; with
        // UCX's 8 KB it takes up to five times as long.
        for (const char* name : {"TX_SEG_SIZE", "RX_SEG_SIZE"}) {
            set(ucx.transport_setting("TCP", name).c_str(), "512K");
        }
    }
}

} // namespace

UcxFabric::UcxFabric(const Library& ucx, PeerNumbers& numbers, const NetworkOptions& options)
    : ucx_(ucx),
      numbers_(numbers),
      transports_(options.transports),
      inbox_(options.inbox),
      uses_boxes_(may_share_memory(chosen_transports(options.transports))),
      always_access_(options.always_access)
{
    make_context(options.transports, false);
    hardware_ = asks_hardware(ucx_.transports(context_));
    if (hardware_) {
        ucx_.cleanup(context_);
        make_context(options.transports, true);
    }
    try {
        make_worker();
    } catch (...) {
        if (worker_ != nullptr) {
            ucx_.worker_destroy(worker_);
        }
        ucx_.cleanup(context_);
        throw;
    }
}

void UcxFabric::make_context(const std::string& transports, bool registrations)
{
    ucp_config_t* config = nullptr;
    require(ucx_, ucx_.config_read(nullptr, nullptr, &config), "cannot read UCX's settings");
    configure(ucx_, config, transports, registrations);
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | UCP_FEATURE_RMA;
    const ucs_status_t status = ucx_.init(&params, config, &context_);
    ucx_.config_release(config);
    require(ucx_, status, "cannot start UCX");
}

void UcxFabric::make_worker()
{
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
    params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    params.am_alignment = frame_alignment;
    require(ucx_, ucx_.worker_create(context_, &params, &worker_), "cannot make UCX's worker");
    require(ucx_, ucx_.worker_get_efd(worker_, &event_fd_), "UCX cannot be slept at");
    const auto handle = [this](unsigned id, ucp_am_recv_callback_t callback) {
        ucp_am_handler_param_t handler{};
        handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                             UCP_AM_HANDLER_PARAM_FIELD_ARG;
        handler.id = id;
        handler.cb = callback;
        handler.arg = this;
        require(ucx_, ucx_.worker_set_am_recv_handler(worker_, &handler),
                "cannot receive active messages");
    };
    handle(batch_id, on_batch);
    handle(zero_copy_id, on_zero_copy);
    ucp_worker_attr_t attributes{};
    attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
    require(ucx_, ucx_.worker_query(worker_, &attributes), "cannot ask for UCX's address");
    max_header_ = attributes.max_am_header;
    const auto* bytes = reinterpret_cast<const std::byte*>(attributes.address);
    address_.assign(bytes, bytes + attributes.address_length);
    ucx_.worker_release_address(worker_, attributes.address);
}

Peer& UcxFabric::peer_of(int number)
{
    const auto index = static_cast<std::size_t>(number);
    if (index >= peers_.size()) {
        peers_.resize(std::max<std::size_t>(index + 1, 2 * peers_.size()));
    }
    if (!peers_[index]) {
        peers_[index] = std::make_unique<Peer>(*this, number);
        // Each is in each of these lists once at most: so nothing is allocated later on.
        for (auto* list : {&held_, &to_connect_, &failed_, &closed_, &ready_, &to_flush_}) {
            list->reserve(peers_.size());
        }
    }
    return *peers_[index];
}

/// Most messages come from the sender of the one before.
Peer& UcxFabric::sender_of(std::uint64_t identity)
{
    auto& [latest, peer] = latest_sender_;
    if (peer == nullptr || latest != identity) {
        peer = &peer_of(numbers_.number(identity));
        latest = identity;
    }
    return *peer;
}

int UcxFabric::meet(std::uint64_t identity, std::span<const std::byte> address)
{
    Peer& peer = sender_of(identity);
    if (peer.address.empty()) {
        peer.address.assign(address.begin(), address.end());
        if (!peer.waiting.empty()) {
            request_connection(peer);
        }
    }
    return peer.number;
}

void UcxFabric::use_box(int number, FastOutbox box) { peer_of(number).box = box; }

bool UcxFabric::poll(Receiver& receiver) noexcept
{
    receiver_ = &receiver;
    bool moved = progress();
    if (has_news()) {
        moved = tell_news() || moved;
    }
    receiver_ = nullptr;
    return moved;
}

/// A look at UCX takes longer than one at the boxes: while these bring messages it has its turn,
/// and no more; unless one of them came early, because what was sent before it comes by UCX.
bool UcxFabric::progress() noexcept
{
    constexpr unsigned looks_after_message = 64;
    constexpr unsigned looks_per_turn = 4;
    const bool boxed = take_boxes();
    if (boxed) {
        boxes_only_ = boxes_only_ % looks_per_turn + looks_after_message;
    }
    if (!ready_.empty()) {
        boxes_only_ = 0;
    }
    if (boxes_only_ != 0 && --boxes_only_ % looks_per_turn != 0) {
        return boxed;
    }
    return ucx_.worker_progress(worker_) != 0 || boxed;
}

bool UcxFabric::take_boxes() noexcept
{
    return inbox_ != nullptr && inbox_->take([this](const FastMessage& batch) noexcept {
        take_batch_of(sender_of(batch.sender), batch.number, batch.bytes);
    });
}

/// Whether there is something to tell the receiver, or to do, outside of UCX's handlers.
bool UcxFabric::has_news() const noexcept
{
    return !finished_.empty() || !placed_.empty() || !failed_.empty() || !ready_.empty() ||
           !to_connect_.empty() || !accessed_.empty() || !to_flush_.empty() || !closed_.empty();
}

bool UcxFabric::tell_news() noexcept
{
    bool moved = hand_over_ready();
    connect_requested();
    moved = tell_placed() || moved;
    moved = tell_finished() || moved;
    moved = tell_accessed() || moved;
    flush_requested();
    moved = tell_lost() || moved;
    return tell_closed() || moved;
}

bool UcxFabric::arm() noexcept
{
    return !has_news() && (inbox_ == nullptr || inbox_->empty()) &&
           ucx_.worker_arm(worker_) == UCS_OK;
}

std::string UcxFabric::description() const
{
    return "UCX " + ucx_.version() + ", " + ucx_.path() + ", transports " + transports_ +
           (hardware_ ? ", puts and gets by hardware" : ", puts and gets by messages");
}

} // namespace ucx

std::unique_ptr<NetworkFabric> open_network(PeerNumbers& numbers, const NetworkOptions& options)
{
    const ucx::Library* library = ucx::Library::load(options.library);
    if (library == nullptr) {
        return nullptr;
    }
    try {
        return std::make_unique<ucx::UcxFabric>(*library, numbers, options);
    } catch (const std::runtime_error& error) {
        log(LogLevel::error,
            "no network: %s; SIDELIGHT_NETWORK, or UCX_TLS, says which transports UCX may use; "
            "until then windows that need messages are left to the host MPI",
            error.what());
        return nullptr;
    }
}

} // namespace sidelight::fabric
