// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "handles.hpp"
#include "notebook.hpp"
#include "rma/engine/process.hpp"
#include "script.hpp"

namespace sidelight::sim {

class Rank;
class World;

/// The request of one step; knows whose it is when it completes.
struct StepRequest : rma::Request {
    Rank* rank = nullptr;
    std::size_t step = 0;
};

/// When a step was called and when its request completed, in virtual time.
struct StepTimes {
    Time called = 0;
    Time done = 0;
    /// In which event of the network that was: what it has changed is seen by those of later ones,
    /// even where the clock of their rank lags behind.
    std::uint64_t event = 0;
};

/// A rank that runs its script against an engine of its own, one call at a time. A blocking call is
/// the nonblocking one and a wait: until the request is complete the rank makes no other call, but
/// its engine progresses whenever the network runs it.
class Rank final : public fabric::sim::Actor {
public:
    Rank(World& world, int rank, const Script& script);
    /// A run that has failed leaves windows, and what they complete in their end is no news.
    ~Rank() { is_over_ = true; }
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    /// The engine's window, made by the world before the run.
    rma::Window& create_window(const rma::WindowShape& shape);

    void run() override;
    /// Sweeps while another rank runs, if this one is in a blocking call.
    void look();

    [[nodiscard]] bool finished() const noexcept { return position_ == script_.size(); }
    [[nodiscard]] int number() const noexcept { return rank_; }
    [[nodiscard]] std::size_t position() const noexcept { return position_; }
    [[nodiscard]] const Script& script() const noexcept { return script_; }
    [[nodiscard]] rma::Process& process() noexcept { return process_; }
    /// The trace, where the program is traced.
    [[nodiscard]] const Notebook& notebook() const noexcept { return notebook_; }
    [[nodiscard]] rma::Window& window(int number) noexcept
    {
        return *windows_[static_cast<std::size_t>(number)];
    }
    /// Windows are destroyed as soon as their closing is complete.
    [[nodiscard]] bool has_window(int number) const noexcept
    {
        return windows_[static_cast<std::size_t>(number)] != nullptr;
    }
    [[nodiscard]] bool completed(std::size_t step) const noexcept
    {
        return requests_[step].complete;
    }
    [[nodiscard]] Status status(std::size_t step) const noexcept { return requests_[step].status; }
    [[nodiscard]] const StepTimes& times(std::size_t step) const noexcept { return times_[step]; }

    /// The origin's side of an operation: what it sends, or where a get puts its words.
    [[nodiscard]] std::uint64_t* origin(std::size_t step) noexcept
    {
        return buffer_.data() + buffer_at_[step];
    }
    /// Behind it: the old value of an operation that fetches, then what a swap compares with.
    [[nodiscard]] std::uint64_t* result(std::size_t step) noexcept
    {
        return origin(step) + script_[step].words;
    }

private:
    static void on_complete(rma::Request& request) noexcept;

    void sweep();
    void stand_aside();
    [[nodiscard]] bool spins();
    void answer_call();
    void leave_engine();
    [[nodiscard]] bool may_fail(Status status);
    [[nodiscard]] bool released();
    void leave(const Step& step);
    void perform(const Step& step);
    [[nodiscard]] bool local_call(const Step& step);
    Status synchronise(const Step& step, rma::Request* request);
    Status synchronise_passive(const Step& step, rma::Request* request);
    Status issue(const Step& step, rma::Request* request);
    void fill_origin(const Step& step);
    [[nodiscard]] rma::Mapped& direct_path(const Step& step);
    [[nodiscard]] HandleWindows::One* handle_window(const Step& step);
    [[nodiscard]] bool take_fast_path(const Step& step);
    [[nodiscard]] bool take_direct_path(const Step& step);
    [[nodiscard]] bool copy_directly(const Step& step);
    [[nodiscard]] bool combine_directly(const Step& step);

    World& world_;
    int rank_;
    const Script& script_;
    Notebook notebook_;
    rma::Process process_;
    std::vector<rma::Window*> windows_;
    HandleWindows handles_;
    std::size_t position_ = 0;
    bool refused_ = false; ///< a call, because a rank is lost
    bool is_over_ = false;
    bool waits_ = false;  ///< inside a blocking call
    Time busy_until_ = 0; ///< computing
    std::uint64_t meets_ = 0;
    std::uint64_t sweeps_ = 0;
    std::vector<StepRequest> requests_;
    std::vector<StepTimes> times_;
    std::vector<std::size_t> buffer_at_;
    std::vector<std::uint64_t> buffer_;
};

} // namespace sidelight::sim
