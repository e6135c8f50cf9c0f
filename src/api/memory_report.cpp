// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <string_view>

#include "api/entry.hpp"
#include "host/node/member_table.hpp"
#include "rma/engine/footprint.hpp"
#include "runtime/window_object.hpp"

using namespace sidelight;

namespace {

void append_member(std::string& json, std::string_view name, std::size_t bytes)
{
    json.append(json.empty() ? "{\"" : ", \"").append(name);
    json.append("\": ").append(std::to_string(bytes));
}

/// What a process keeps of the window outside of the engine: how each member on its node is
/// reached, and where its memory lies.
std::size_t interface_bytes(const rma::WindowExtent& window) noexcept
{
    constexpr std::size_t for_each = sizeof(runtime::Greeting) + sizeof(Mapping) +
                                     sizeof(std::int32_t) +                       // its rank
                                     sizeof(std::size_t) + sizeof(std::uint64_t); // place and size
    return sizeof(runtime::WindowObject) + sizeof(runtime::WindowBody) + window.on_node * for_each;
}

} // namespace

/// What a window takes of the memory, for `sidelight info`: a JSON object, all in bytes, without
/// the memory that the program has in the window. `members` of it, `on_node` on each node, of whom
/// each has met `elsewhere` others; network addresses of `address_bytes` each. Of a process:
/// process, and with lock_all open lock_all more; process_addresses are taken, not all of them
/// used. Of a node: member table, controls and barrier together node; node_addresses. What UCX
/// takes for its connections is not in it. The text lives until the thread's next call.
SIDELIGHT_ENTRY const char* sidelight_memory_json(std::size_t members, std::size_t on_node,
                                                  std::size_t elsewhere, std::size_t address_bytes)
{
    const rma::WindowExtent window{.members = members, .on_node = on_node, .elsewhere = elsewhere};
    const std::size_t nodes = (members + on_node - 1) / std::max<std::size_t>(on_node, 1);
    const std::size_t member_table =
        nodes > 1 ? host::node::MemberTable::bytes(members, nodes, members * address_bytes) : 0;
    const std::size_t controls = on_node * rma::control_bytes(window);
    constexpr std::size_t barrier = sizeof(rma::BarrierWord);
    thread_local std::string json;
    json.clear();
    append_member(json, "process", rma::engine_bytes(window) + interface_bytes(window));
    append_member(json, "lock_all", rma::lock_all_bytes(window));
    append_member(json, "process_addresses", rma::table_addresses(window));
    append_member(json, "member_table", member_table);
    append_member(json, "controls", controls);
    append_member(json, "barrier", barrier);
    append_member(json, "node", member_table + controls + barrier);
    append_member(json, "node_addresses",
                  member_table + on_node * rma::control_addresses(window) + barrier);
    json += "}";
    return json.c_str();
}
