// SPDX-License-Identifier: BSD-3-Clause
#include "messages/entry.hpp"

#include <algorithm>
#include <array>

#include <mpi.h>

#include "host/mpi/table.hpp"
#include "messages/calls.hpp"
#include "messages/rules.hpp"

/// The functions that are exported, made of calls.def. While nothing is looked after, which is so
/// in every program until its MPI is initialised with progress of messages, each hands its call on
/// as it came.
namespace sidelight::messages {
namespace {

std::uint64_t size_of(MPI_Datatype type) noexcept
{
    MPI_Count size = 0;
    const bool known = host::mpi::table().Type_size_x(type, &size) == MPI_SUCCESS;
    return known && size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

template <class Count>
std::uint64_t bytes_of(Word count, Word type) noexcept
{
    const Count number = narrowed<Count>(count);
    return number > 0 ? static_cast<std::uint64_t>(number) * size_of(narrowed<MPI_Datatype>(type))
                      : 0;
}

/// A datatype is asked for its size only when the host has taken the call, so it is one.
template <class Count, std::size_t count, std::size_t type>
struct Buffer {
    static rules::Demand demand(Words words) noexcept
    {
        return {.bytes = bytes_of<Count>(words[count], words[type])};
    }
};

template <class Count, std::size_t count, std::size_t type, std::size_t other_count,
          std::size_t other_type>
struct Buffers {
    static rules::Demand demand(Words words) noexcept
    {
        return {.bytes = std::max(bytes_of<Count>(words[count], words[type]),
                                  bytes_of<Count>(words[other_count], words[other_type]))};
    }
};

/// Open MPI 5 does not end one if its progress runs between MPI_Start and the last MPI_Pready, also
/// where the program itself lets it run.
template <std::size_t partitions, std::size_t count, std::size_t type>
struct Partitions {
    static rules::Demand demand(Words words) noexcept
    {
#ifdef OPEN_MPI
        static_cast<void>(words);
        return {.always = true, .barring = true};
#else
        const auto number = narrowed<int>(words[partitions]);
        return {.bytes = number > 0 ? static_cast<std::uint64_t>(number) *
                                          bytes_of<MPI_Count>(words[count], words[type])
                                    : 0};
#endif
    }
};

struct Always {
    static rules::Demand demand(Words /*words*/) noexcept { return {.always = true}; }
};

bool is_predefined(MPI_Op op) noexcept
{
    const std::array all{MPI_MAX,    MPI_MIN,    MPI_SUM,     MPI_PROD, MPI_LAND,
                         MPI_BAND,   MPI_LOR,    MPI_BOR,     MPI_LXOR, MPI_BXOR,
                         MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
    return std::find(all.begin(), all.end(), op) != all.end();
}

template <std::size_t op>
struct Reduction {
    static rules::Demand demand(Words words) noexcept
    {
        return {.always = true, .barring = !is_predefined(narrowed<MPI_Op>(words[op]))};
    }
};

/// Is not inlined, for the sake of small messages and of programs that use none of this.
template <class Size>
[[gnu::noinline]] void note(Messages& messages, Words words, std::size_t request,
                            bool persistent) noexcept
{
    const rules::Demand demand = Size::demand(words);
    const MPI_Request handed_out = *reinterpret_cast<MPI_Request*>(words[request]);
    if (rules::is_large(demand, messages.limit()) && handed_out != MPI_REQUEST_NULL) {
        messages.requests().hand_out(handle_of(handed_out),
                                     {.persistent = persistent, .barring = demand.barring},
                                     !persistent);
        if (!persistent) {
            messages.has_started();
        }
    }
}

template <Call call, class... EachWord>
[[gnu::always_inline]] inline Word attend(EachWord... words)
{
    if (Messages* const messages = Messages::of_call(); messages != nullptr) [[likely]] {
        const Inside inside(*messages);
        return hand_on(call, words...);
    }
    return hand_on(call, words...);
}

template <Call call, class... EachWord>
[[gnu::always_inline]] inline Word attend_poll(std::size_t flag, EachWord... words)
{
    if (Messages* const messages = Messages::of_call(); messages != nullptr) [[likely]] {
        InPoll poll(*messages);
        const Word code = hand_on(call, words...);
        if (!is_success(code) || *reinterpret_cast<int*>(std::array{words...}[flag]) != 0) {
            poll.has_found();
        }
        return code;
    }
    return hand_on(call, words...);
}

template <Call call, class Size, class... EachWord>
[[gnu::always_inline]] inline Word attend_new(std::size_t request, bool persistent,
                                              EachWord... words)
{
    if (Messages* const messages = Messages::of_call(); messages != nullptr) [[likely]] {
        const Inside inside(*messages);
        const Word code = hand_on(call, words...);
        if (is_success(code)) [[likely]] {
            note<Size>(*messages, std::array{words...}.data(), request, persistent);
        }
        return code;
    }
    return hand_on(call, words...);
}

} // namespace

#define SIDELIGHT_EXPORTED(name, words)                                                            \
    static_assert(host::mpi::words_of<decltype(PMPI_##name)> == (words));                          \
    SIDELIGHT_ENTRY Word entry_##name(SIDELIGHT_WORD_PARAMETERS(words)) asm("MPI_" #name);         \
    SIDELIGHT_ENTRY Word profiled_entry_##name(SIDELIGHT_WORD_PARAMETERS(words)) asm(              \
        "PMPI_" #name) __attribute__((alias("MPI_" #name)));                                       \
    Word entry_##name(SIDELIGHT_WORD_PARAMETERS(words))

#define SIDELIGHT_ATTENDED(name, words)                                                            \
    SIDELIGHT_EXPORTED(name, words) { return attend<Call::name>(SIDELIGHT_WORD_NAMES(words)); }
#define SIDELIGHT_POLLED(name, words, flag)                                                        \
    SIDELIGHT_EXPORTED(name, words)                                                                \
    {                                                                                              \
        return attend_poll<Call::name>(flag, SIDELIGHT_WORD_NAMES(words));                         \
    }
#define SIDELIGHT_UNPACKED(...) __VA_ARGS__
#define SIDELIGHT_HANDED_OUT(name, words, request, size, persistent)                               \
    SIDELIGHT_EXPORTED(name, words)                                                                \
    {                                                                                              \
        return attend_new<Call::name, SIDELIGHT_UNPACKED size>(request, persistent,                \
                                                               SIDELIGHT_WORD_NAMES(words));       \
    }
#define SIDELIGHT_STARTED(name, words, request, size)                                              \
    SIDELIGHT_HANDED_OUT(name, words, request, size, false)
#define SIDELIGHT_MADE(name, words, request, size)                                                 \
    SIDELIGHT_HANDED_OUT(name, words, request, size, true)

// What life.cpp and completing.cpp do, as words.
#define SIDELIGHT_HAS_OWN(name, words)                                                             \
    SIDELIGHT_OWN Word words_of_own_##name(SIDELIGHT_WORD_PARAMETERS(words)) asm("own_" #name);
#define SIDELIGHT_OF_LIFE(name, words)                                                             \
    SIDELIGHT_HAS_OWN(name, words)                                                                 \
    SIDELIGHT_EXPORTED(name, words) { return words_of_own_##name(SIDELIGHT_WORD_NAMES(words)); }
#define SIDELIGHT_OF_REQUESTS(name, words)                                                         \
    SIDELIGHT_HAS_OWN(name, words)                                                                 \
    SIDELIGHT_EXPORTED(name, words)                                                                \
    {                                                                                              \
        return Messages::of_call() != nullptr ? words_of_own_##name(SIDELIGHT_WORD_NAMES(words))   \
                                              : hand_on(Call::name, SIDELIGHT_WORD_NAMES(words));  \
    }
#include "messages/calls.def"

} // namespace sidelight::messages
