// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/window_parts.hpp"

#include <new>

namespace sidelight::rma {

namespace {

/// Meets the neighbours, this process among them. Answers its own block. Throws std::bad_alloc.
Control& meet_neighbours(Contacts& contacts)
{
    for (const std::int32_t neighbour : contacts.neighbours()) {
        if (contacts.meet(neighbour) != Status::ok) {
            throw std::bad_alloc();
        }
    }
    return contacts.own();
}

AccumulateTarget own_accumulates(Contacts& contacts)
{
    return accumulate_target(contacts.target(contacts.rank()), contacts.rank());
}

/// Of a new window.
trace::Track begin_trace(SharedParts& shared, const WindowShape& shape) noexcept
{
    trace::Track& track = shared.latest_trace;
    if (!track) {
        return {};
    }
    ++track.window;
    track.note({.event = trace::Event::window_made,
                .detail = static_cast<std::uint8_t>(shape.flavor),
                .peer = shape.rank,
                .epoch = static_cast<std::uint32_t>(shape.size),
                .value = shape.id});
    return track;
}

} // namespace

WindowParts::WindowParts(Window& window, SharedParts& shared, const WindowShape& shape)
    : channels(shared.carrier, shared.farewells, shape.id, shape.rank,
               static_cast<std::size_t>(shape.size)),
      credit(channels, window, shared.credit),
      life(shared.carrier.flights()),
      contacts({.members = *shape.members,
                .window = shape.id,
                .size = static_cast<std::uint32_t>(shape.size),
                .rank = shape.rank,
                .dynamic = shape.flavor == Flavor::dynamic,
                .neighbours = shape.neighbours,
                .memory = shared.memory,
                .channels = channels,
                .farewells = shared.farewells,
                .attention = window}),
      own(meet_neighbours(contacts)),
      active(channels, life, memory, window, own.active, shape.rank,
             shape.active_at_target || shape.flavor == Flavor::dynamic),
      origin(channels, credit, life, active.origin),
      acknowledgements(channels, origin, life),
      accumulates(own.accumulates),
      target_side(channels, credit, memory, accumulates, own_accumulates(contacts)),
      native(channels, origin, life, memory, shared.operations.remote_accesses),
      regions({.targets = contacts.targets(),
               .rank = shape.rank,
               .memory = memory,
               .active = active,
               .accumulates = accumulates,
               .mapped = window.mapped()}),
      operations({.targets = contacts.targets(),
                  .rank = shape.rank,
                  .memory = memory,
                  .mapped = window.mapped(),
                  .accumulates = accumulates,
                  .channels = channels,
                  .origin = origin,
                  .native = native,
                  .life = life,
                  .active = active,
                  .pools = shared.operations}),
      barrier(contacts, channels, shape.barrier),
      locks(contacts, channels, window, shared.lock_waiters),
      notices(contacts, locks, credit),
      counters(own.notifications, shared.memory, window),
      notifications(contacts, counters, shared.memory, channels),
      offers({.contacts = contacts,
              .barrier = barrier,
              .room = shared.operations.room,
              .pool = shared.offers,
              .dynamic = shape.flavor == Flavor::dynamic,
              .allowed = shape.offers,
              .calls_for_events = shape.calls_for_events}),
      others_offers({.contacts = contacts,
                     .memory = memory,
                     .accumulates = accumulates,
                     .barrier = barrier,
                     .locks = locks,
                     .allowed = shape.offers}),
      surroundings{.contacts = contacts,
                   .channels = channels,
                   .credit = credit,
                   .barrier = barrier,
                   .locks = locks,
                   .notifications = notifications,
                   .operations = operations,
                   .mapped = window.mapped(),
                   .early = shared.early,
                   .offers = offers,
                   .others_offers = others_offers,
                   .dynamic = shape.flavor == Flavor::dynamic,
                   .no_exclusive_locks = shape.no_exclusive_locks,
                   .calls_for_events = shape.calls_for_events,
                   .trace = begin_trace(shared, shape)},
      queue(surroundings, shared.epochs, window, shape.reorder),
      recording(surroundings, queue, open),
      flushes(surroundings, queue, recording, open, shared.flushes),
      completions(surroundings, queue, flushes),
      synchronization(surroundings, queue, open, shape.flavor),
      dispatch({.contacts = contacts,
                .channels = channels,
                .target = target_side,
                .origin = origin,
                .active = active,
                .acknowledgements = acknowledgements,
                .credit = credit,
                .notices = notices,
                .locks = locks,
                .barrier = barrier,
                .native = native,
                .counters = counters,
                .notifications = notifications}),
      losses(shape.id, surroundings, acknowledgements, target_side, active)
{
    life.observe(completions);
    channels.observe(dispatch);
    active.exclusion.begin(shape.rank, *shape.members);
    active.begin(shared.active);
    for (const std::int32_t neighbour : contacts.neighbours()) {
        active.exclusion.add_neighbour(neighbour, contacts.peer(neighbour).control->active);
        accumulates.add_neighbour(*contacts.target(neighbour).accumulates);
    }
    const Target& self = contacts.target(shape.rank);
    if (shape.flavor == Flavor::dynamic) {
        memory.set_dynamic(own.regions, shared.memory);
    } else {
        memory.set_block(self.base, self.size);
    }
    own.accumulates.allows_rows.store(shared.allows_rows, std::memory_order_release);
}

} // namespace sidelight::rma
