// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/attached_memory.hpp"

#include <new>
#include <optional>
#include <utility>

#include "runtime/runtime.hpp"
#include "runtime/window_create.hpp"

namespace sidelight::runtime {

namespace {

/// A region of no bytes overlaps with none, and nobody finds it.
Status attach_empty(WindowObject& object, const void* base)
{
    if (object.window->flavor() != rma::Flavor::dynamic) {
        return Status::rma_flavor;
    }
    const EngineToken token(Runtime::existing()->engine());
    object.body->attached_empty.insert(base);
    return Status::ok;
}

/// False: there is none. Where another region begins at the same address nobody knows which one the
/// program means: it may still use the other one, so that one stays.
bool detach_empty(WindowObject& object, const void* base) noexcept
{
    const EngineToken token(Runtime::existing()->engine());
    std::multiset<const void*>& all = object.body->attached_empty;
    const auto found = all.find(base);
    if (found == all.end()) {
        return false;
    }
    all.erase(found);
    return true;
}

} // namespace

/// First it is known where others find the memory, if there are any on the node; only then it is in
/// the table that they read.
Status attach(WindowObject& object, void* base, MPI_Aint size) noexcept
{
    if (size < 0) {
        return Status::size;
    }
    const auto bytes = static_cast<std::size_t>(size);
    try {
        if (bytes == 0) {
            return attach_empty(object, base);
        }
        host::memory::SharedRange range;
        if (object.body->members->neighbours().size() > 1 &&
            object.window->flavor() == rma::Flavor::dynamic) {
            range = share_brought(object, base, bytes);
        }
        const auto where = range ? std::optional(range.where()) : std::nullopt;
        const EngineToken token(Runtime::existing()->engine());
        const auto kept = object.body->attached.try_emplace(base);
        const Status status = object.window->attach(static_cast<std::byte*>(base), bytes, where);
        if (status == Status::ok) {
            kept.first->second = std::move(range);
        } else if (kept.second) {
            object.body->attached.erase(kept.first);
        }
        return status;
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
}

/// First nobody finds it any more, here or by the network, then it may become private again.
Status detach(WindowObject& object, const void* base) noexcept
{
    if (detach_empty(object, base)) {
        return Status::ok;
    }
    Runtime& runtime = *Runtime::existing();
    BlockingRequest withdrawn;
    {
        const EngineToken token(runtime.engine());
        const Status status =
            object.window->detach(static_cast<const std::byte*>(base), &withdrawn);
        if (status != Status::ok) {
            return status;
        }
        if (withdrawn.complete) {
            object.body->attached.erase(base);
            return Status::ok;
        }
    }
    runtime.waiting().wait(withdrawn);
    const EngineToken token(runtime.engine());
    object.body->attached.erase(base);
    return Status::ok;
}

} // namespace sidelight::runtime
