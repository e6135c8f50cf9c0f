// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "base/digest.hpp"
#include "base/log.hpp"
#include "fabric/ucx/open_memory.hpp"

/// Memory of peers, read and written by UCX. See docs/design/native-route.md.
namespace sidelight::fabric::ucx {
namespace {

/// Transports that access memory by hardware. With all others UCX sends messages of its own, which
/// take longer than ours.
constexpr std::array<std::string_view, 4> hardware{"rc_", "dc_", "gga_", "ugni_rdma"};

bool is_hardware(std::string_view transport) noexcept
{
    return std::any_of(hardware.begin(), hardware.end(),
                       [&](std::string_view name) { return transport.starts_with(name); });
}

std::uint64_t digest_of(std::span<const std::byte> bytes) noexcept
{
    return digest({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

constexpr std::size_t undigested = sizeof(KeyHeader::digest);

} // namespace

bool UcxFabric::asks_hardware(const std::vector<std::string>& transports) const noexcept
{
    return std::any_of(transports.begin(), transports.end(), is_hardware);
}

/// Decided once for each peer, when there is an endpoint.
bool UcxFabric::accesses(int number) noexcept
{
    if (!hardware_ && !always_access_) {
        return false;
    }
    Peer& peer = peer_of(number);
    if (peer.access == Peer::Access::unknown && peer.endpoint != nullptr) {
        const bool native = always_access_ || asks_hardware(ucx_.transports(peer.endpoint));
        peer.access = native ? Peer::Access::native : Peer::Access::none;
    }
    return peer.access == Peer::Access::native && !peer.failed;
}

bool UcxFabric::expose(std::span<std::byte> memory, ExposedMemory& exposed) noexcept
try {
    exposed_.reserve(exposed_.size() + 1);
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    params.address = memory.data();
    params.length = memory.size();
    ucp_mem_h handle = nullptr;
    if (const ucs_status_t status = ucx_.mem_map(context_, &params, &handle); status != UCS_OK) {
        log(LogLevel::info, "UCX does not register %zu bytes: %s", memory.size(),
            ucx_.status_string(status));
        return false;
    }
    exposed.memory = handle;
    exposed.key_bytes =
        pack_key(handle, reinterpret_cast<std::uintptr_t>(memory.data()), exposed.key);
    exposed_.push_back(handle);
    if (exposed.key_bytes == 0) {
        conceal(exposed);
    }
    return exposed.key_bytes != 0;
} catch (const std::bad_alloc&) {
    return false;
}

/// Answers its bytes; 0: there is none, or it is too long.
std::size_t UcxFabric::pack_key(ucp_mem_h memory, std::uint64_t base,
                                std::span<std::byte> key) noexcept
{
    void* packed = nullptr;
    std::size_t bytes = 0;
    if (ucx_.rkey_pack(context_, memory, &packed, &bytes) != UCS_OK) {
        return 0;
    }
    const std::size_t all = sizeof(KeyHeader) + bytes;
    if (all <= key.size()) {
        KeyHeader header{.base = base};
        std::memcpy(key.data() + sizeof header, packed, bytes);
        std::memcpy(key.data(), &header, sizeof header);
        header.digest = digest_of(key.subspan(undigested, all - undigested));
        std::memcpy(key.data(), &header, sizeof header);
    }
    ucx_.rkey_buffer_release(packed);
    return all <= key.size() ? all : 0;
}

void UcxFabric::conceal(ExposedMemory& exposed) noexcept
{
    auto* handle = static_cast<ucp_mem_h>(std::exchange(exposed.memory, nullptr));
    exposed.key_bytes = 0;
    const auto found = std::find(exposed_.begin(), exposed_.end(), handle);
    if (found != exposed_.end()) { // else the fabric is closed, and this with it
        ucx_.mem_unmap(context_, handle);
        exposed_.erase(found);
    }
}

std::unique_ptr<RemoteMemory> UcxFabric::open(int number, std::span<const std::byte> key) noexcept
try {
    Peer& peer = peer_of(number);
    KeyHeader header;
    if (key.size() <= sizeof header || peer.endpoint == nullptr || peer.failed) {
        return nullptr;
    }
    std::memcpy(&header, key.data(), sizeof header);
    if (header.digest != digest_of(key.subspan(undigested))) {
        log(LogLevel::warn, "a key of peer %d is none", number);
        return nullptr;
    }
    open_.reserve(open_.size() + 1);
    ucp_rkey_h opened = nullptr;
    const ucs_status_t status =
        ucx_.ep_rkey_unpack(peer.endpoint, key.subspan(sizeof header).data(), &opened);
    if (status != UCS_OK) {
        log(LogLevel::info, "memory of peer %d is not reached by UCX: %s", number,
            ucx_.status_string(status));
        return nullptr;
    }
    auto memory = std::make_unique<OpenMemory>(*this, peer, opened, header.base);
    open_.push_back(memory.get());
    return memory;
} catch (const std::bad_alloc&) {
    return nullptr;
}

OpenMemory::~OpenMemory()
{
    if (key_ != nullptr) {
        fabric_.ucx_.rkey_destroy(key_);
        std::erase(fabric_.open_, this);
    }
}

Access UcxFabric::start_access(OpenMemory& memory, bool put, std::span<const AccessPiece> pieces,
                               Completion& done) noexcept
{
    Peer& peer = memory.peer_;
    if (memory.key_ == nullptr || peer.failed || peer.endpoint == nullptr) {
        return Access::failed;
    }
    Outgoing* spare = spare_transfers_.take();
    auto* transfer =
        spare != nullptr ? static_cast<Transfer*>(spare) : new (std::nothrow) Transfer(*this);
    if (transfer == nullptr) {
        return Access::failed;
    }
    transfer->peer = &peer;
    transfer->done = &done;
    transfer->requests = 1; // this call
    transfer->flushed = !put;
    transfer->status = Status::ok;
    for (const AccessPiece& piece : pieces) {
        start_piece(memory, *transfer, piece);
    }
    const bool nothing = transfer->status != Status::ok && transfer->requests == 1;
    if (nothing || (!put && transfer->requests == 1)) {
        spare_transfers_.append(*transfer);
        return nothing ? Access::failed : Access::complete;
    }
    link(*transfer);
    if (put) {
        peer.unflushed.append(*transfer);
        request_flush(peer);
    }
    --transfer->requests;
    end_if_over(*transfer);
    return Access::pending;
}

void UcxFabric::link(Transfer& transfer) noexcept
{
    transfer.before = nullptr;
    transfer.after = std::exchange(transfer.peer->transfers, &transfer);
    if (transfer.after != nullptr) {
        transfer.after->before = &transfer;
    }
}

void UcxFabric::start_piece(OpenMemory& memory, Transfer& transfer,
                            const AccessPiece& piece) noexcept
{
    if (transfer.status != Status::ok) {
        return;
    }
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = on_accessed;
    param.user_data = &transfer;
    const std::uint64_t there = memory.base_ + piece.there;
    ucs_status_ptr_t request = transfer.flushed ? ucx_.get(transfer.peer->endpoint, piece.here,
                                                           piece.bytes, there, memory.key_, &param)
                                                : ucx_.put(transfer.peer->endpoint, piece.here,
                                                           piece.bytes, there, memory.key_, &param);
    if (UCS_PTR_IS_PTR(request)) {
        ++transfer.requests;
        ++transfer.peer->outstanding;
    } else if (UCS_PTR_RAW_STATUS(request) != UCS_OK) {
        transfer.status = Status::other;
    }
}

void UcxFabric::on_accessed(void* request, ucs_status_t status, void* data) noexcept
{
    auto& transfer = *static_cast<Transfer*>(data);
    UcxFabric& fabric = transfer.fabric;
    fabric.ucx_.request_free(request);
    --transfer.peer->outstanding;
    --transfer.requests;
    if (status != UCS_OK) {
        transfer.status = Status::other;
        fabric.fail(*transfer.peer, status);
    }
    fabric.end_if_over(transfer);
}

/// It is told by the next poll.
void UcxFabric::end_if_over(Transfer& transfer) noexcept
{
    if (transfer.requests != 0 || !transfer.flushed) {
        return;
    }
    (transfer.before != nullptr ? transfer.before->after : transfer.peer->transfers) =
        transfer.after;
    if (transfer.after != nullptr) {
        transfer.after->before = transfer.before;
    }
    accessed_.append(transfer);
}

bool UcxFabric::tell_accessed() noexcept
{
    OutgoingList telling = std::exchange(accessed_, {});
    const bool any = !telling.empty();
    while (Outgoing* item = telling.take()) {
        auto* transfer = static_cast<Transfer*>(item);
        Completion* done = transfer->done;
        const Status status = transfer->status;
        spare_transfers_.append(*transfer);
        if (done != nullptr) {
            done->finished(*done, status);
        }
    }
    return any;
}

/// One flush at a time for each peer: UCX allows few, and one covers all puts before it.
void UcxFabric::request_flush(Peer& peer) noexcept
{
    if (!peer.to_flush && !peer.flush_under_way) {
        peer.to_flush = true;
        to_flush_.push_back(&peer);
    }
}

void UcxFabric::flush_requested() noexcept
{
    if (handing_over_ || to_flush_.empty()) {
        return;
    }
    for (std::size_t next = 0; next < to_flush_.size(); ++next) {
        to_flush_[next]->to_flush = false;
        flush_peer(*to_flush_[next]);
    }
    to_flush_.clear();
}

void UcxFabric::flush_peer(Peer& peer) noexcept
{
    if (peer.unflushed.empty() || peer.endpoint == nullptr) {
        return;
    }
    peer.flushing = std::exchange(peer.unflushed, {});
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = on_peer_flushed;
    param.user_data = &peer;
    ucs_status_ptr_t request = ucx_.ep_flush(peer.endpoint, &param);
    if (UCS_PTR_IS_PTR(request)) {
        peer.flush_under_way = true;
        ++peer.outstanding;
    } else {
        flushed(peer, UCS_PTR_RAW_STATUS(request));
    }
}

void UcxFabric::on_peer_flushed(void* request, ucs_status_t status, void* data) noexcept
{
    auto& peer = *static_cast<Peer*>(data);
    peer.fabric.ucx_.request_free(request);
    --peer.outstanding;
    peer.flush_under_way = false;
    peer.fabric.flushed(peer, status);
    if (!peer.unflushed.empty()) {
        peer.fabric.request_flush(peer);
    }
}

void UcxFabric::flushed(Peer& peer, ucs_status_t status) noexcept
{
    while (Outgoing* item = peer.flushing.take()) {
        auto& transfer = static_cast<Transfer&>(*item);
        transfer.flushed = true;
        transfer.status = status == UCS_OK ? transfer.status : Status::other;
        end_if_over(transfer);
    }
    if (status != UCS_OK) {
        fail(peer, status);
    }
}

/// No flush will come for what none covers yet.
void UcxFabric::abandon_accesses(Peer& peer) noexcept
{
    while (Outgoing* item = peer.unflushed.take()) {
        auto& transfer = static_cast<Transfer&>(*item);
        transfer.flushed = true;
        transfer.status = Status::other;
        end_if_over(transfer);
    }
}

/// What UCX has forgotten of an endpoint that is gone: over, as far as anybody waits for it.
void UcxFabric::tell_closed_accesses(Peer& peer) noexcept
{
    for (Transfer* transfer = peer.transfers; transfer != nullptr; transfer = transfer->after) {
        if (Completion* done = std::exchange(transfer->done, nullptr); done != nullptr) {
            done->finished(*done, Status::other);
        }
    }
}

/// Before worker and context go; or where they stay because endpoints have not ended.
void UcxFabric::close_memory(bool ended) noexcept
{
    for (OpenMemory* memory : std::exchange(open_, {})) {
        ucp_rkey_h key = std::exchange(memory->key_, nullptr);
        if (ended) {
            ucx_.rkey_destroy(key);
        }
    }
    for (ucp_mem_h memory : std::exchange(exposed_, {})) {
        if (ended) {
            ucx_.mem_unmap(context_, memory);
        }
    }
}

void UcxFabric::free_transfers() noexcept
{
    for (OutgoingList* list : {&spare_transfers_, &accessed_}) {
        while (Outgoing* item = list->take()) {
            delete static_cast<Transfer*>(item);
        }
    }
}

} // namespace sidelight::fabric::ucx
