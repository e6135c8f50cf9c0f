// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "host/mpi/declarations.hpp"
#include "host/node/exchange_page.hpp"

namespace sidelight::host::node {

/// Members that tell one another something. Every call is collective. What is answered is the same
/// for all, so that they go on alike.
class Exchange {
public:
    /// What each can tell at once.
    static constexpr std::size_t most_bytes = ExchangePage::most_bytes;

    Exchange() = default;
    virtual ~Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    [[nodiscard]] virtual int members() const noexcept = 0;
    /// Of this member among them.
    [[nodiscard]] virtual int index() const noexcept = 0;

    /// Everybody's `bytes` at `mine`, in order, to `all`, which has room for them: made before,
    /// since who runs out of memory here leaves the others waiting. Answers whether it worked.
    [[nodiscard]] virtual bool gather(const void* mine, void* all, std::size_t bytes) noexcept = 0;
    /// Of each of some words the smallest that was said. Answers whether it worked.
    [[nodiscard]] virtual bool find_least(std::span<const std::uint64_t> mine,
                                          std::span<std::uint64_t> least) noexcept = 0;

    /// Whether a member is known to be gone: nothing is exchanged here any more.
    [[nodiscard]] virtual bool lost() const noexcept { return false; }

    /// Whether all members say yes.
    [[nodiscard]] bool agree(bool mine) noexcept;
    template <class T>
    [[nodiscard]] bool exchange(const T& mine, std::vector<T>& all) noexcept
    {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= most_bytes);
        return gather(&mine, all.data(), sizeof(T));
    }
};

/// By the host's collectives: those of a communicator, which outlives this.
class HostExchange final : public Exchange {
public:
    explicit HostExchange(MPI_Comm comm) noexcept : comm_(comm) {}

    [[nodiscard]] int members() const noexcept override;
    [[nodiscard]] int index() const noexcept override;
    [[nodiscard]] bool gather(const void* mine, void* all, std::size_t bytes) noexcept override;
    [[nodiscard]] bool find_least(std::span<const std::uint64_t> mine,
                                  std::span<std::uint64_t> least) noexcept override;

private:
    MPI_Comm comm_;
};

} // namespace sidelight::host::node
