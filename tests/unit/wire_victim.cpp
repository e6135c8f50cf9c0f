// SPDX-License-Identifier: BSD-3-Clause
#include "wire_victim.hpp"

#include <csignal>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "datatype/basic_layout.hpp"
#include "datatype/builder.hpp"
#include "rma/engine/window_parts.hpp"

namespace sidelight::rma {

namespace {

using datatype::Basic;
using fabric::sim::Random;

constexpr std::uint64_t first_window = 0x5000'0000'0001U;
constexpr std::size_t dynamic_bytes = 12'345;
constexpr std::size_t gap_first = 4'096; ///< between its two regions
constexpr std::size_t gap_last = 5'000;
constexpr std::size_t kept_questions = 2'000;
constexpr std::size_t operations_at_once = 24;
constexpr std::size_t buffer_bytes = 24'000;

/// What a crash says first: a signal handler may print nothing that is not ready.
char seed_text[64];
constexpr int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
struct sigaction handlers_before[std::size(fatal)];

void restore_handlers()
{
    for (std::size_t index = 0; index < std::size(fatal); ++index) {
        sigaction(fatal[index], &handlers_before[index], nullptr);
    }
}

/// The instruction that failed runs again, with the handlers of a sanitizer, if there is one.
void tell_seed(int signal)
{
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, seed_text, std::strlen(seed_text));
    restore_handlers();
    if (signal == SIGABRT) {
        std::raise(signal);
    }
}

std::uint64_t sum_of(std::span<const std::byte> bytes)
{
    std::uint64_t sum = 0;
    for (const std::byte byte : bytes) {
        sum = sum * 31 + static_cast<std::uint64_t>(byte);
    }
    return sum;
}

void attach(Window& window, std::span<std::byte> region)
{
    if (window.attach(region.data(), region.size()) != Status::ok) {
        throw std::runtime_error("cannot attach");
    }
}

/// Two blocks with a hole between them.
const datatype::Layout* spread_layout()
{
    static const datatype::LayoutPointer layout = [] {
        datatype::LayoutBuilder builder;
        builder.append_block(0, 8, Basic::i64);
        builder.append_block(24, 8, Basic::i64);
        return builder.finish(0, 40);
    }();
    return layout.get();
}

} // namespace

void VictimStatistics::add(const VictimStatistics& other) noexcept
{
    messages += other.messages;
    placed += other.placed;
    issued += other.issued;
    completed += other.completed;
    failed += other.failed;
    written += other.written;
    accessed += other.accessed;
}

SeedTeller::SeedTeller(std::uint64_t seed)
{
    std::snprintf(seed_text, sizeof seed_text, "crashed: SIDELIGHT_FUZZ_SEED=%llu\n",
                  static_cast<unsigned long long>(seed));
    struct sigaction action = {};
    action.sa_handler = tell_seed;
    for (std::size_t index = 0; index < std::size(fatal); ++index) {
        sigaction(fatal[index], &action, &handlers_before[index]);
    }
}

SeedTeller::~SeedTeller() { restore_handlers(); }

/// Every other access fails, so that as many go by messages.
class OthersMemory final : public fabric::RemoteMemory {
public:
    explicit OthersMemory(SilentFabric& fabric) noexcept : RemoteMemory({}, false), fabric_(fabric)
    {}

    fabric::Access put(std::span<const fabric::AccessPiece> pieces,
                       fabric::Completion& /*done*/) noexcept override
    {
        return look(pieces);
    }
    fabric::Access get(std::span<const fabric::AccessPiece> pieces,
                       fabric::Completion& /*done*/) noexcept override
    {
        return look(pieces);
    }

private:
    fabric::Access look(std::span<const fabric::AccessPiece> pieces) noexcept
    {
        for (const fabric::AccessPiece& piece : pieces) {
            fabric_.outside = fabric_.outside || piece.there > victim_window_bytes ||
                              piece.bytes > victim_window_bytes - piece.there;
            fabric_.read += sum_of({piece.here, piece.bytes});
        }
        return ++fabric_.accessed % 2 == 0 ? fabric::Access::failed : fabric::Access::complete;
    }

    SilentFabric& fabric_;
};

bool SilentFabric::expose(std::span<std::byte> /*memory*/, fabric::ExposedMemory& exposed) noexcept
{
    exposed.key_bytes = 1;
    return true;
}

std::unique_ptr<fabric::RemoteMemory> SilentFabric::open(int /*peer*/,
                                                         std::span<const std::byte> key) noexcept
{
    const bool right = static_cast<unsigned>(key.front()) % 2 == 0;
    return right ? std::make_unique<OthersMemory>(*this) : nullptr;
}

void SilentFabric::keep(int peer, std::span<const std::byte> framed)
{
    Message message;
    std::memcpy(&message.header, framed.data(), sizeof message.header);
    message.rest = framed.subspan(sizeof message.header);
    Asked kept{.header = message.header, .peer = peer};
    switch (message.header.kind) {
    case MessageKind::put_scattered: // begins with the same
    case MessageKind::put: {
        const auto body = message.body<PutBody>();
        kept.operation = body.operation;
        kept.zero_copy = body.zero_copy != 0;
        counted[{message.header.window, peer}] += kept.zero_copy ? 0 : 1;
        break;
    }
    case MessageKind::get_scattered:
    case MessageKind::get: {
        const auto body = message.body<GetBody>();
        kept.operation = body.operation;
        kept.position = body.position;
        kept.bytes = body.bytes;
        kept.fetches = true;
        break;
    }
    case MessageKind::accumulate_scattered:
    case MessageKind::accumulate: {
        const auto body = message.body<AccumulateBody>();
        kept.operation = body.operation;
        kept.position = body.position;
        kept.bytes = body.bytes;
        kept.fetches = body.fetch != 0;
        counted[{message.header.window, peer}] += kept.fetches ? 0 : 1;
        break;
    }
    case MessageKind::compare_and_swap: {
        const auto body = message.body<CompareAndSwapBody>();
        kept.operation = body.operation;
        kept.bytes = datatype::shape_of(static_cast<Basic>(body.basic)).size;
        kept.fetches = true;
        break;
    }
    default:
        return;
    }
    if (asked.size() == kept_questions) {
        asked.front() = asked.back();
        asked.pop_back();
    }
    asked.push_back(kept);
}

Status SilentFabric::send(int peer, std::span<const std::byte> header,
                          std::span<const std::byte> payload) noexcept
{
    keep(peer, header);
    too_long = too_long || header.size() + payload.size() > fabric::max_message;
    read += sum_of(payload);
    return Status::ok;
}

Status SilentFabric::send_zero_copy(int peer, std::span<const std::byte> header,
                                    std::span<const std::byte> payload,
                                    fabric::Completion& sent) noexcept
{
    keep(peer, header);
    leaving.push_back({payload, &sent});
    return Status::ok;
}

/// A window's members and all memory that belongs to it.
class Victim::Others final : public Members {
public:
    Others(Flavor flavor, std::size_t bytes)
        : flavor_(flavor),
          own_(bytes),
          neighbour_(victim_window_bytes),
          own_block_(Control::bytes(victim_members), 64),
          neighbour_block_(Control::bytes(victim_members), 64)
    {
        Control::create(own_block_.data().data());
        Control::create(neighbour_block_.data().data());
        last_ = sum_of(own_.data());
    }

    Status find(int rank, Member& found) noexcept override
    {
        const bool dynamic = flavor_ == Flavor::dynamic;
        found.peer = rank;
        found.size = dynamic ? 0 : rank == 0 ? own_.data().size() : victim_window_bytes;
        if (rank == 0 || rank == 3) {
            const GuardedMemory& memory = rank == 0 ? own_ : neighbour_;
            found.mapped = true;
            found.base = dynamic || found.size == 0 ? nullptr : memory.data().data();
            found.control = &control(rank);
            found.number = static_cast<std::uint32_t>(rank);
        }
        return Status::ok;
    }

    [[nodiscard]] Control& control(int rank) noexcept
    {
        GuardedMemory& block = rank == 0 ? own_block_ : neighbour_block_;
        return *reinterpret_cast<Control*>(block.data().data());
    }
    [[nodiscard]] std::span<std::byte> memory() noexcept { return own_.data(); }
    [[nodiscard]] BarrierShape barrier() noexcept
    {
        return {.word = &word_, .node = 0, .leaders = leaders_};
    }

    const char* wrong(std::uint64_t& written)
    {
        const std::uint64_t now = sum_of(own_.data());
        const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
        written += std::exchange(last_, now) != now ? 1 : 0;
        if (!own_.intact() || !neighbour_.intact()) {
            return "a byte beside a window has changed";
        }
        if (flavor_ == Flavor::dynamic &&
            !std::all_of(own_.data().begin() + gap_first, own_.data().begin() + gap_last, zero)) {
            return "memory between two attached regions has changed";
        }
        if (!own_block_.intact() || !neighbour_block_.intact()) {
            return "a byte beside a control block has changed";
        }
        for (const GuardedMemory* memory : {&neighbour_, &neighbour_block_}) {
            if (!std::all_of(memory->data().begin(), memory->data().end(), zero)) {
                return "memory of another rank has changed";
            }
        }
        return wrong_notices();
    }

    [[nodiscard]] Flavor flavor() const noexcept { return flavor_; }

    Window* window = nullptr;

private:
    /// Those on this node write their notices themselves.
    const char* wrong_notices()
    {
        for (const int rank : {0, 3}) {
            const PeerNotices& notices = control(0).notices(rank);
            if (notices.granted.load() != 0 || notices.done.load() != 0) {
                return "a message has changed a notice of a member on this node";
            }
        }
        return nullptr;
    }

    Flavor flavor_;
    GuardedMemory own_;
    GuardedMemory neighbour_;
    GuardedMemory own_block_;
    GuardedMemory neighbour_block_;
    BarrierWord word_;
    std::array<std::int32_t, 3> leaders_{0, 1, 2};
    std::uint64_t last_ = 0;
};

/// An operation of the victim's, with buffers of its own. What is complete belongs to the program,
/// and nobody else writes there.
struct Victim::Operating {
    Request request;
    GuardedMemory origin{buffer_bytes};
    GuardedMemory result{buffer_bytes};
    std::byte compare[32] = {};
    std::uint64_t origin_sum = 0;
    std::uint64_t result_sum = 0;
    bool issued = false;
    bool looked_at = false;

    [[nodiscard]] bool busy() const noexcept { return issued && !request.complete; }
    void look()
    {
        origin_sum = sum_of(origin.data());
        result_sum = sum_of(result.data());
        looked_at = true;
    }
};

Victim::Victim()
{
    process_.set_messages(true);
    create_window(first_window, Flavor::allocate, victim_window_bytes);
    create_window(first_window + 1, Flavor::create, 0);
    create_window(first_window + 2, Flavor::dynamic, dynamic_bytes);
    for (std::size_t slot = 0; slot < operations_at_once; ++slot) {
        operating_.push_back(std::make_unique<Operating>());
    }
}

/// What is in flight holds references to layouts.
Victim::~Victim()
{
    while (spread_layout()->references > 1) {
        datatype::release(spread_layout());
    }
}

void Victim::create_window(std::uint64_t id, Flavor flavor, std::size_t bytes)
{
    static constexpr std::int32_t node[] = {0, 3};
    others_.push_back(std::make_unique<Others>(flavor, bytes));
    Others& others = *others_.back();
    WindowShape shape;
    shape.id = id;
    shape.size = victim_members;
    shape.flavor = flavor;
    shape.members = &others;
    shape.neighbours = node;
    shape.barrier = others.barrier();
    others.window = &process_.create_window(shape);
    if (flavor == Flavor::dynamic) { // two regions with a gap
        const std::span<std::byte> memory = others.memory();
        attach(*others.window, memory.first(gap_first));
        attach(*others.window, memory.subspan(gap_last));
    }
    ActiveMessages& active = others.window->parts().active;
    active.handlers = {&fabric_, nullptr};
    if (active.target.attach(attached_.data(), attached_.size()) != Status::ok) {
        throw std::runtime_error("cannot attach a buffer");
    }
    for (const int target : {1, 2}) {
        static_cast<void>(
            others.window->lock(LockType::shared, target, {.no_check = true}, nullptr));
    }
}

namespace {

/// A handler that looks at nothing: what it is given is checked by nobody but its program.
class IdleCaller final : public ActiveCaller {
public:
    void call(const ActiveInvocation& /*invocation*/) noexcept override {}
};

} // namespace

void Victim::sweep()
{
    process_.progress();
    IdleCaller caller;
    for (ActiveJob job; process_.take_active(job);) {
        Process::run_active(job, caller);
        Process::finish_active(job);
    }
}

void Victim::receive(int from, std::span<const std::byte> message)
{
    ++statistics_.messages;
    const std::vector<std::byte> arrived(message.begin(), message.end()); // its end is the end
    process_.receive(from, arrived);
}

void Victim::receive_long(int from, const Drawn& message, std::size_t bytes, bool late)
{
    ++statistics_.messages;
    std::vector<std::byte> header = message.bytes();
    std::byte* place = process_.place(from, header, bytes);
    if (place == nullptr) {
        return;
    }
    ++statistics_.placed;
    arriving_.push_back({from, std::move(header), place, bytes});
    if (!late) {
        write_and_tell(arriving_.back());
        arriving_.pop_back();
    }
}

void Victim::write_and_tell(const Arriving& arriving)
{
    std::memset(arriving.place, 0x5A, arriving.bytes);
    process_.placed(arriving.from, arriving.header, arriving.bytes);
}

void Victim::settle_one_long(Random& random)
{
    if (!fabric_.leaving.empty() && random.chance(50)) {
        const SilentFabric::Leaving left = fabric_.leaving.front();
        fabric_.leaving.pop_front();
        fabric_.read += sum_of(left.payload);
        left.sent->finished(*left.sent, random.chance(90) ? Status::ok : Status::other);
    } else if (!arriving_.empty()) {
        std::swap(arriving_[random.below(arriving_.size())], arriving_.back());
        const Arriving arriving = arriving_.back();
        arriving_.pop_back();
        write_and_tell(arriving);
    }
}

void Victim::keep_busy(Random& random)
{
    Operating& slot = *operating_[random.below(operating_.size())];
    if (slot.busy()) {
        return;
    }
    if (slot.issued && !slot.looked_at) {
        ++statistics_.completed;
        statistics_.failed += slot.request.status != Status::ok ? 1 : 0;
        slot.look();
    } else if (random.chance(30)) {
        issue(random, slot);
    }
}

void Victim::issue(Random& random, Operating& slot)
{
    slot.request = {};
    slot.issued = true;
    slot.looked_at = false;
    const bool spread = random.chance(30);
    const auto basic =
        spread ? Basic::i64 : static_cast<Basic>(1 + random.below(datatype::basic_count - 1));
    const datatype::Layout* layout = spread ? spread_layout() : &datatype::basic_layout(basic);
    Operation operation;
    operation.target = random.between(1, 2);
    operation.layout = layout;
    operation.count = 1 + random.below(random.chance(97) ? 6 : buffer_bytes / 2 / 40);
    operation.origin = {slot.origin.data().data(), layout, operation.count};
    operation.kind = static_cast<OperationKind>(random.between(1, 4));
    if (random.chance(20)) { // a zero-copy one
        operation.layout = &datatype::basic_layout(Basic::byte);
        operation.count = zero_copy_bytes + random.below(buffer_bytes / 2 - zero_copy_bytes);
        operation.origin = {slot.origin.data().data(), operation.layout, operation.count};
        operation.kind = static_cast<OperationKind>(random.between(1, 2));
    }
    operation.reduce = static_cast<ReduceOp>(random.below(static_cast<unsigned>(ReduceOp::count_)));
    const datatype::Buffer result{slot.result.data().data(), layout, operation.count};
    if (operation.kind == OperationKind::compare_and_swap) {
        operation.layout = &datatype::basic_layout(basic);
        operation.count = 1;
        operation.origin = {slot.origin.data().data(), operation.layout, 1};
        operation.result = {slot.result.data().data(), operation.layout, 1};
        operation.compare = slot.compare;
    } else if (operation.kind == OperationKind::accumulate && random.chance(60)) {
        operation.result = result;
    }
    Window& window = *others_[random.chance(50) ? 0 : 2]->window;
    slot.issued = window.issue(operation, &slot.request) == Status::ok;
    statistics_.issued += slot.issued ? 1 : 0;
}

std::uint64_t Victim::any_window(Random& random) const
{
    return first_window + random.below(others_.size());
}

std::uint64_t Victim::any_address(std::uint64_t window, Random& random)
{
    Others& others = *others_[window - first_window];
    const std::size_t bytes = others.memory().size();
    const std::uint64_t offset = random.chance(70) ? random.below(bytes + 1) : bytes - bytes / 64;
    return offset + (others.flavor() == Flavor::dynamic
                         ? reinterpret_cast<std::uint64_t>(others.memory().data())
                         : 0);
}

Drawn Victim::answer_to_any(Random& random)
{
    Drawn answer;
    answer.header.kind = MessageKind::count_;
    if (fabric_.asked.empty()) {
        return answer;
    }
    const std::size_t index = random.below(fabric_.asked.size());
    const Asked asked = fabric_.asked[index];
    if (random.chance(80)) { // else it is answered twice
        fabric_.asked[index] = fabric_.asked.back();
        fabric_.asked.pop_back();
    }
    answer.header.window = asked.header.window;
    answer.header.origin = static_cast<std::uint32_t>(asked.peer);
    const auto placed = static_cast<std::uint32_t>(random.below(4));
    const int odd = random.chance(10) ? random.between(0, 3) : -1;
    if (odd == 0) {
        answer.set(MessageKind::refused,
                   RefusedBody{.operation = asked.operation,
                               .placed = placed,
                               .status = static_cast<std::uint8_t>(random.below(256)),
                               .acknowledged = static_cast<std::uint8_t>(random.below(2))});
    } else if (odd == 1 || (odd < 0 && asked.fetches)) {
        answer.set(
            MessageKind::reply,
            ReplyBody{.operation = asked.operation, .position = asked.position, .placed = placed});
    } else if (odd == 2 || (odd < 0 && asked.zero_copy)) {
        answer.set(MessageKind::placed, PlacedBody{.operation = asked.operation, .placed = placed});
    } else {
        const std::uint32_t all = fabric_.counted[{asked.header.window, asked.peer}];
        answer.set(MessageKind::acknowledgement,
                   AcknowledgementBody{.fragments = all - static_cast<std::uint32_t>(random.below(
                                                              random.chance(50) ? 1 : 10))});
    }
    wanted_bytes_ = asked.bytes;
    return answer;
}

const char* Victim::wrong_in_buffers()
{
    for (const auto& slot : operating_) {
        if (!slot->origin.intact() || !slot->result.intact()) {
            return "a byte beside an operation's buffers has changed";
        }
        if (slot->looked_at && (slot->origin_sum != sum_of(slot->origin.data()) ||
                                slot->result_sum != sum_of(slot->result.data()))) {
            return "buffers of a complete operation have changed";
        }
    }
    return nullptr;
}

const char* Victim::wrong()
{
    for (const auto& others : others_) {
        if (const char* what = others->wrong(statistics_.written); what != nullptr) {
            return what;
        }
    }
    statistics_.accessed = fabric_.accessed;
    if (fabric_.outside) {
        return "the fabric was told to access what is in no window";
    }
    return fabric_.too_long ? "an answer is longer than a message can be" : wrong_in_buffers();
}

} // namespace sidelight::rma
