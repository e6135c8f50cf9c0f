// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tracing.hpp"

#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <unordered_map>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/handle_bits.hpp"
#include "host/mpi/table.hpp"
#include "host/trace_file.hpp"

namespace sidelight::runtime {

namespace {

using host::mpi::table;

/// Never destroyed: threads may note something until the process ends.
host::TraceFile* file = nullptr;

/// Requests that the program has, with their windows.
struct TracedRequests {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, TracedRequest> by_handle;
    std::uint64_t latest = 0;
};

TracedRequests& requests()
{
    static auto* all = new TracedRequests; // calls may come until the process ends
    return *all;
}

/// Processes of sessions have no rank in the job, nor have those that others have spawned: theirs
/// in MPI_COMM_WORLD are the others', too.
bool has_rank_in_job() noexcept
{
    MPI_Comm parent = MPI_COMM_NULL;
    return host::mpi::world_is_up() && table().Comm_get_parent(&parent) == MPI_SUCCESS &&
           parent == MPI_COMM_NULL;
}

host::TracedProcess this_process() noexcept
{
    host::TracedProcess process;
    if (has_rank_in_job()) {
        table().Comm_rank(MPI_COMM_WORLD, &process.rank);
        table().Comm_size(MPI_COMM_WORLD, &process.ranks);
    }
    return process;
}

/// The ranks in the job of a group's members; those that it has none of are MPI_UNDEFINED.
std::vector<int> ranks_in_job(MPI_Group group, int members)
{
    std::vector<int> numbers(static_cast<std::size_t>(members));
    std::iota(numbers.begin(), numbers.end(), 0);
    std::vector<int> ranks(numbers.size(), MPI_UNDEFINED);
    MPI_Group world = MPI_GROUP_NULL;
    if (table().Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        table().Group_translate_ranks(group, members, numbers.data(), world, ranks.data());
        table().Group_free(&world);
    }
    return ranks;
}

} // namespace

void begin_trace(Engine& engine) noexcept
{
    constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
    const Settings& set = settings();
    if (set.trace.empty()) {
        return;
    }
    file = host::TraceFile::create(
               set.trace, static_cast<std::uint64_t>(set.trace_limit) * megabyte, this_process())
               .release();
    engine.process().set_recorder(file);
    trace::of_process.store(file, std::memory_order_release);
}

void trace_members(const WindowObject& object) noexcept
try {
    if (file == nullptr || object.window->rank() != 0 || !has_rank_in_job()) {
        return;
    }
    const std::vector<int> ranks = ranks_in_job(object.body->group, object.window->size());
    for (std::size_t member = 0; member < ranks.size(); ++member) {
        if (ranks[member] != MPI_UNDEFINED) {
            trace_of(*object.window)
                .note({.event = trace::Event::window_member,
                       .peer = static_cast<std::int32_t>(member),
                       .value = static_cast<std::uint64_t>(ranks[member])});
        }
    }
} catch (const std::bad_alloc&) {
    log(LogLevel::warn, "out of memory: the trace does not say who is in a window");
}

void trace_request(const WindowObject& object, MPI_Request request,
                   trace::RequestKind kind) noexcept
try {
    const trace::Track& track = trace_of(*object.window);
    if (track && request != MPI_REQUEST_NULL) {
        track.note({.event = trace::Event::request_begun,
                    .detail = static_cast<std::uint8_t>(kind),
                    .value = host::mpi::bits_of(request)});
        TracedRequests& all = requests();
        const std::scoped_lock lock(all.mutex);
        const TracedRequest traced{.handle = request, .track = track, .serial = ++all.latest};
        all.by_handle.insert_or_assign(host::mpi::bits_of(request), traced);
    }
} catch (const std::bad_alloc&) {
    log(LogLevel::warn, "out of memory: the trace does not say who waits for a request");
}

TracedRequest find_traced(MPI_Request request) noexcept
{
    TracedRequests& all = requests();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.by_handle.find(host::mpi::bits_of(request));
    return found != all.by_handle.end() ? found->second : TracedRequest{};
}

/// Another thread may have got a request of the same handle meanwhile.
void trace_end(const TracedRequest& request) noexcept
{
    const std::uint64_t name = host::mpi::bits_of(request.handle);
    request.track.note({.event = trace::Event::request_ended, .value = name});
    TracedRequests& all = requests();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.by_handle.find(name);
    if (found != all.by_handle.end() && found->second.serial == request.serial) {
        all.by_handle.erase(found);
    }
}

void settle_trace() noexcept
{
    if (file != nullptr) {
        file->settle();
    }
}

} // namespace sidelight::runtime
