// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <strings.h>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/fit.hpp"
#include "host/mpi/table.hpp"
#include "host/open_sessions.hpp"
#include "messages/entry.hpp"
#include "messages/host_threads.hpp"
#include "messages/session_levels.hpp"

/// MPI's own life. The host is initialised with MPI_THREAD_MULTIPLE, for our own thread; the
/// program is told the level that it has asked for, and so is libsidelight.so.
namespace sidelight::messages {
namespace {

/// The program's level by MPI_Init or MPI_Init_thread, while that is not the host's.
constexpr int not_ours = -1;
std::atomic<int> level_of_world{not_ours};
/// The highest level that the program has asked for, by MPI_Init_thread or a session.
std::atomic<int> level_of_program{MPI_THREAD_SINGLE};
/// Those that were given threads.
host::OpenSessions sessions;

/// The variable that has the host make progress by a thread of its own, which would come beside
/// ours; null where none has.
const char* asks_host_for_thread() noexcept
{
#ifndef OPEN_MPI
    for (const char* name :
         {"MPIR_CVAR_ASYNC_PROGRESS", "MPICH_ASYNC_PROGRESS", "I_MPI_ASYNC_PROGRESS"}) {
        const char* value = std::getenv(name);
        if (value != nullptr && *value != '\0' && std::strchr("0nNfF", *value) == nullptr &&
            strcasecmp(value, "off") != 0) {
            return name;
        }
    }
#endif
    return nullptr;
}

bool host_has_own_thread() noexcept
{
    static const char* const variable = [] {
        const char* name = asks_host_for_thread();
        if (name != nullptr) {
            log(LogLevel::warn, "no progress of messages: %s has MPI do it by a thread of its own",
                name);
        }
        return name;
    }();
    return variable != nullptr;
}

bool is_wanted() noexcept
{
    return settings().enable && settings().progress == Progress::smart && host::mpi::fits_host() &&
           !host_has_own_thread();
}

void raise_level(int asked) noexcept
{
    int highest = level_of_program.load(std::memory_order_relaxed);
    while (asked > highest && !level_of_program.compare_exchange_weak(highest, asked)) {
    }
}

/// The host has been initialised with what it provides; a level is answered to the program.
int settle_level(int required, int provided) noexcept
{
    const int level = std::min(provided, required);
    raise_level(level);
    if (provided != MPI_THREAD_MULTIPLE) {
        log(LogLevel::warn, "no progress of messages: MPI gives no MPI_THREAD_MULTIPLE");
    } else if (Messages::begin(level)) {
        tell_program_level(level);
        level_of_world.store(level, std::memory_order_relaxed);
    }
    return level;
}

/// Where the level was not raised, it is the host's: libsidelight.so must not learn of a lower one
/// by a session.
Word as_the_host_has_it(Word code) noexcept
{
    int level = MPI_THREAD_SINGLE;
    if (is_wanted() && is_success(code) && is_success(hand_on(Call::Query_thread, &level))) {
        raise_level(level);
        tell_program_level(level);
    }
    return code;
}

/// Where the environment says the level of MPI_Init, that is what the program asks for.
bool environment_sets_level() noexcept
{
    return std::getenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL") != nullptr ||
           std::getenv("OMPI_MPI_THREAD_LEVEL") != nullptr;
}

/// Or goes on, since the host has refused to end it.
void session_began(MPI_Session session, int level) noexcept
{
    raise_level(level);
    remember_level(session, level);
    if (!has_threads(session)) {
        log(LogLevel::warn, "no progress of messages: the session has no MPI_THREAD_MULTIPLE");
    } else {
        Messages::begin(level);
    }
}

} // namespace

SIDELIGHT_OWN Word own_Init(int* argc, char*** argv) noexcept
{
    if (!is_wanted() || threads_would_harm()) {
        return as_the_host_has_it(hand_on(Call::Init, argc, argv));
    }
    int provided = MPI_THREAD_SINGLE;
    if (environment_sets_level()) {
        const Word code = hand_on(Call::Init, argc, argv);
        if (is_success(code) && is_success(hand_on(Call::Query_thread, &provided))) {
            settle_level(provided, provided);
        }
        return code;
    }
    const Word code = hand_on(Call::Init_thread, argc, argv, MPI_THREAD_MULTIPLE, &provided);
    if (is_success(code)) {
        settle_level(MPI_THREAD_SINGLE, provided);
    }
    return code;
}

SIDELIGHT_OWN Word own_Init_thread(int* argc, char*** argv, int required, int* provided) noexcept
{
    const bool known = required >= MPI_THREAD_SINGLE && required <= MPI_THREAD_MULTIPLE;
    const bool raises = known && provided != nullptr && is_wanted() &&
                        (required == MPI_THREAD_MULTIPLE || !threads_would_harm());
    if (!raises) {
        return as_the_host_has_it(hand_on(Call::Init_thread, argc, argv, required, provided));
    }
    const Word code = hand_on(Call::Init_thread, argc, argv, MPI_THREAD_MULTIPLE, provided);
    if (is_success(code)) {
        *provided = settle_level(required, *provided);
    }
    return code;
}

SIDELIGHT_OWN Word own_Query_thread(int* provided) noexcept
{
    const Word code = hand_on(Call::Query_thread, provided);
    const int level = level_of_world.load(std::memory_order_relaxed);
    if (is_success(code) && level != not_ours) {
        *provided = level;
    }
    return code;
}

SIDELIGHT_OWN Word own_Finalize() noexcept
{
    sessions.end_world([](bool last) { Messages::end(last); });
    return hand_on(Call::Finalize);
}

SIDELIGHT_OWN Word own_Session_init(Word info, Word errhandler, MPI_Session* session) noexcept
{
    if (!is_wanted() || host::mpi::table().Session_init == nullptr || threads_would_harm()) {
        return hand_on(Call::Session_init, info, errhandler, session);
    }
    // A host may give a session what the process has already (MPICH does).
    const int level = std::max(level_asked_for(narrowed<MPI_Info>(info)),
                               level_of_program.load(std::memory_order_relaxed));
    tell_program_level(level); // libsidelight.so asks for it within the call
    MPI_Info raised = with_threads(narrowed<MPI_Info>(info));
    const Word code = hand_on(Call::Session_init, raised, errhandler, session);
    host::mpi::table().Info_free(&raised);
    if (is_success(code)) {
        sessions.begin([=] { session_began(*session, level); });
    }
    return code;
}

SIDELIGHT_OWN Word own_Session_get_info(Word session, MPI_Info* info) noexcept
{
    const Word code = hand_on(Call::Session_get_info, session, info);
    if (is_success(code)) {
        answer_level(narrowed<MPI_Session>(session), *info);
    }
    return code;
}

SIDELIGHT_OWN Word own_Session_finalize(MPI_Session* session) noexcept
{
    const MPI_Session ending = session != nullptr ? *session : MPI_SESSION_NULL;
    const std::optional<int> level = forget_level(ending);
    if (!level) {
        return hand_on(Call::Session_finalize, session);
    }
    sessions.end(host::mpi::world_is_up(), [](bool last) {
        if (last) {
            Messages::end(true);
        }
    });
    const Word code = hand_on(Call::Session_finalize, session);
    sessions.ended(!is_success(code), [=] { session_began(ending, *level); });
    return code;
}

/// Of libsidelight.so's, in any mode; messages have progress in this one alone.
SIDELIGHT_ENTRY int MPIX_Progress_set(int mode)
{
    auto* below_us = reinterpret_cast<int (*)(int)>(find_sidelight("MPIX_Progress_set"));
    const int code = below_us != nullptr ? below_us(mode) : MPI_ERR_OTHER;
    if (code == MPI_SUCCESS) {
        Messages::set_wanted(mode == static_cast<int>(Progress::smart));
    }
    return code;
}
SIDELIGHT_ENTRY int PMPIX_Progress_set(int mode) __attribute__((alias("MPIX_Progress_set")));

} // namespace sidelight::messages
