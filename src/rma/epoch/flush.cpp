// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/flush.hpp"

#include <new>
#include <utility>

#include "rma/rules.hpp"

namespace sidelight::rma {

namespace {

/// So many operations there does it wait for.
std::uint32_t operations_before(const Flush& flush, const PeerEpoch& peer) noexcept
{
    std::uint32_t count = flush.scope == FlushScope::local ? peer.local : peer.outstanding;
    if (peer.by_thread != nullptr) [[unlikely]] {
        count -= peer.by_thread->left_out(flush.thread, flush.scope);
    }
    return count;
}

/// Where it waits for them; null: it would be the first there.
FlushQueue* find_queue(const Flush& flush, PeerEpoch& peer) noexcept
{
    FlushQueue* queue = peer.flushes_of(flush.scope).get();
    while (queue != nullptr && queue->thread() != flush.thread) {
        queue = queue->next.get();
    }
    return queue;
}

/// Null: no memory.
FlushQueue* add_queue(const Flush& flush, PeerEpoch& peer) noexcept
{
    std::unique_ptr<FlushQueue> queue(new (std::nothrow) FlushQueue(flush.thread));
    if (queue == nullptr) {
        return nullptr;
    }
    std::unique_ptr<FlushQueue>& first = peer.flushes_of(flush.scope);
    queue->next = std::move(first);
    first = std::move(queue);
    return first.get();
}

} // namespace

Status Flushes::flush(int target, FlushScope scope, Request* request, ThreadNumber thread) noexcept
{
    if (scope == FlushScope::remote) {
        with_.operations.note_waited_for();
    }
    if (target != all_targets) {
        return flush_one(target, scope, request, thread);
    }
    if (!open_.any_passive()) {
        return Status::rma_sync;
    }
    if (queue_.settled() && with_.operations.unfinished() == 0 && !untold_ &&
        !with_.contacts.broken()) {
        with_.mapped.order();
        conclude(request, Status::ok);
        return Status::ok;
    }
    const bool untold = std::exchange(untold_, false);
    const Status status = begin({.request = request, .scope = scope, .thread = thread});
    untold_ = untold_ || (untold && status != Status::ok);
    return status;
}

Status Flushes::flush_one(int target, FlushScope scope, Request* request,
                          ThreadNumber thread) noexcept
{
    if (!with_.contacts.is_rank(target)) {
        return Status::rank;
    }
    PeerEpochRef where;
    const Status status = recording_.find(target, where);
    if (status == Status::ok && where.epoch->passive()) {
        return begin({.request = request, .target = target, .scope = scope, .thread = thread});
    }
    return refusal(target, status);
}

/// Why there is nothing to wait for.
Status Flushes::refusal(int target, Status status) const noexcept
{
    if (with_.contacts.target(target).lost) {
        return Status::lost;
    }
    return status != Status::ok ? status : Status::rma_sync;
}

/// `flush` says what is wanted; what it has to wait for is found here.
Status Flushes::begin(const Flush& flush) noexcept
{
    Flush* kept = pool_.take();
    if (kept == nullptr) {
        return Status::no_memory;
    }
    // All that may fail comes before it takes failures that nobody else would tell.
    const bool to_all = flush.target == all_targets;
    const PeerEpochRef only = to_all ? PeerEpochRef{} : open_.find(with_.contacts, flush.target);
    Status status = Status::ok;
    for_each(only, [&](PeerEpochRef where) {
        status = status == Status::ok ? prepare(where, flush) : status;
    });
    if (status != Status::ok) {
        pool_.give_back(kept);
        return status;
    }
    with_.mapped.order(); // what is performed later has a barrier of its own
    *kept = flush;
    for_each(only, [&](PeerEpochRef where) { add(where, *kept); });
    if (kept->waits_in == 0) {
        const Status failure = kept->status;
        pool_.give_back(kept);
        conclude(flush.request, failure);
        return Status::ok;
    }
    ++waiting_;
    with_.credit.set_awaited(true); // and nothing joins what it waits for
    with_.credit.request_all();
    with_.channels.carrier().let_leave();
    return Status::ok;
}

/// That target, or where it is none, all of open epochs, but of those in which nothing is recorded.
template <class Visit>
void Flushes::for_each(PeerEpochRef only, Visit visit) noexcept
{
    if (only) {
        visit(only);
        return;
    }
    for (Epoch* epoch = queue_.open_ones().front(); epoch != nullptr;
         epoch = EpochQueue::Alike::after(*epoch)) {
        const std::size_t peers = epoch->kind != EpochKind::exposure ? epoch->peers.size() : 0;
        for (std::uint32_t index = 0; index < peers; ++index) {
            visit(PeerEpochRef{epoch, index});
        }
    }
}

/// Another thread is in the call that asks for the lock, and has issued nothing.
bool Flushes::is_being_opened(PeerEpochRef where) const noexcept
{
    return where.epoch->grant_waited && !queue_.is_granted(*where.epoch, where.peer());
}

/// Where access is not granted yet, a marker waits for the grant, so that a flush also says that
/// the lock is held.
Status Flushes::prepare(PeerEpochRef where, const Flush& flush) noexcept
{
    PeerEpoch& peer = where.peer();
    const bool granted = queue_.is_granted(*where.epoch, peer);
    if (!granted && !is_being_opened(where)) {
        if (const Status status = recording_.mark(where, flush.thread); status != Status::ok) {
            return status;
        }
    }
    if (operations_before(flush, peer) == 0) {
        return Status::ok;
    }
    FlushQueue* queue = find_queue(flush, peer);
    queue = queue != nullptr ? queue : add_queue(flush, peer);
    return queue != nullptr && queue->make_room() ? Status::ok : Status::no_memory;
}

/// Where nothing is under way any more, the next flush need not come here.
void Flushes::add(PeerEpochRef where, Flush& flush) noexcept
{
    PeerEpoch& peer = where.peer();
    if (is_being_opened(where)) {
        return;
    }
    if (peer.failure != Status::ok && rules::flush_includes(flush.thread, peer.failed)) {
        flush.status = std::exchange(peer.failure, Status::ok);
    }
    untold_ = untold_ || peer.failure != Status::ok; // another thread's flush tells it
    if (with_.contacts.target(peer.rank).lost) [[unlikely]] {
        flush.status = Status::lost; // what was issued before may be among what was given up
    }
    if (const std::uint32_t operations = operations_before(flush, peer); operations != 0) {
        ++flush.waits_in;
        find_queue(flush, peer)->push(flush, with_.operations.age(), operations);
    }
    if (peer.outstanding == 0 && peer.failure == Status::ok && peer.to_be_flushed) {
        peer.to_be_flushed = false;
        show(with_, *where.epoch, peer);
    }
}

bool Flushes::count_down(const Op& op, FlushQueue* first) noexcept
{
    const bool tells =
        op.failure == Status::lost || (op.failure != Status::ok && op.request == nullptr);
    bool told = false;
    for (FlushQueue* queue = first; queue != nullptr; queue = queue->next.get()) {
        if (rules::flush_includes(queue->thread(), op.operation.thread)) {
            const bool counted = queue->count_down(op.age, tells ? op.failure : Status::ok);
            told = told || (counted && tells);
            while (queue->is_first_over()) {
                leave_queue(queue->take_first());
            }
        }
    }
    return told;
}

/// It is over in one of those that it has waited in.
void Flushes::leave_queue(Flush& flush) noexcept
{
    if (--flush.waits_in != 0) {
        return;
    }
    Request* request = flush.request;
    const Status status = flush.status;
    pool_.give_back(&flush);
    conclude(request, status);
    if (--waiting_ == 0) {
        with_.credit.set_awaited(false);
    }
}

} // namespace sidelight::rma
