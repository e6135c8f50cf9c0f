// SPDX-License-Identifier: BSD-3-Clause
#include "rma/process.hpp"

#include <algorithm>
#include <cstring>

namespace sidelight::rma {

Window& Process::create_window(WindowShape shape)
{
    auto window = std::make_unique<Window>(*this, std::move(shape));
    by_id_.emplace(window->id(), window.get());
    windows_.push_back(std::move(window));
    return *windows_.back();
}

void Process::destroy_window(Window& window) noexcept
{
    by_id_.erase(window.id());
    std::erase_if(windows_, [&](const auto& owned) { return owned.get() == &window; });
}

bool Process::progress() noexcept
{
    bool moved = messages_ && fabric_.poll(*this);
    for (Window* window = busy_windows_.front(); window != nullptr;) {
        Window* next = decltype(busy_windows_)::after(*window);
        moved |= window->progress();
        window = next;
    }
    return moved;
}

void Process::receive(int /*from*/, std::span<const std::byte> message) noexcept
{
    Message taken;
    if (message.size() < sizeof taken.header) {
        return;
    }
    std::memcpy(&taken.header, message.data(), sizeof taken.header);
    taken.payload = message.subspan(sizeof taken.header);
    const auto found = by_id_.find(taken.header.window);
    if (found != by_id_.end()) {
        found->second->receive(taken);
    }
}

} // namespace sidelight::rma
