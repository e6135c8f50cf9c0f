// SPDX-License-Identifier: BSD-3-Clause
#include "notebook.hpp"

#include <algorithm>

#include "rma/kinds.hpp"

namespace sidelight::sim {

using trace::Event;
using trace::Record;

void Notebook::expect(bool holds, const char* otherwise) noexcept
{
    if (!holds && wrong_ == nullptr) {
        wrong_ = otherwise;
    }
}

bool Notebook::Epoch::is_granted() const
{
    return granted.contains(-1) ||
           std::includes(granted.begin(), granted.end(), used.begin(), used.end());
}

void Notebook::note(Record record) noexcept
{
    record.time = now_();
    records_.push_back(record);
    if (record.event == Event::window_made) {
        expect(record.window == ++windows_, "windows are not numbered in turn");
    } else if (record.event == Event::epoch_opened) {
        open(record);
    } else if (record.epoch != 0) {
        follow(record);
    }
    expect(record.event == Event::moved || (record.window >= 1 && record.window <= windows_),
           "a record names a window that was not made");
}

void Notebook::open(const Record& record)
{
    const Epoch epoch{.grants_missing = record.value,
                      .grows = record.detail == static_cast<int>(rma::EpochKind::lock_all)};
    const bool is_new = epochs_.emplace(Name{record.window, record.epoch}, epoch).second;
    expect(is_new, "two epochs have one number");
}

bool Notebook::is_of_last_operation(const Record& record) const
{
    const Record& before = records_[records_.size() - 2];
    return before.event == Event::operation && before.peer == record.peer &&
           before.epoch == record.epoch && before.window == record.window;
}

void Notebook::follow(const Record& record)
{
    const auto found = epochs_.find({record.window, record.epoch});
    if (found == epochs_.end()) {
        expect(false, "a record names an epoch that is not there");
        return;
    }
    Epoch& epoch = found->second;
    switch (record.event) {
    case Event::epoch_activated:
        expect(!epoch.active, "an epoch is activated twice");
        epoch.active = true;
        break;
    case Event::epoch_granted:
        expect(epoch.active, "an epoch is granted that is not active");
        expect(epoch.grows || epoch.grants_missing != 0,
               "an epoch is granted by more than its peers");
        expect(epoch.granted.insert(record.peer).second, "an epoch is granted twice by a peer");
        epoch.grants_missing -= epoch.grows ? 0 : 1;
        expect(epoch.grows || (epoch.grants_missing == 0) == (record.value == 1),
               "the last grant is not told from the others");
        break;
    case Event::epoch_ungranted:
        expect(epoch.closed && epoch.grants_missing != 0, "a grant is missed that was there");
        expect(!epoch.granted.contains(record.peer) && !epoch.used.contains(record.peer),
               "an epoch is complete without a grant that it needs");
        epoch.grants_missing -= 1;
        break;
    case Event::operation:
        expect(!epoch.closed, "an operation is issued in an epoch that is closed");
        epoch.used.insert(record.peer);
        break;
    case Event::notified:
        expect(is_of_last_operation(record), "a notification is not behind its operation");
        break;
    case Event::epoch_closed:
        expect(!epoch.closed, "an epoch is closed twice");
        epoch.closed = true;
        break;
    case Event::epoch_completed:
        expect(epoch.closed && epoch.active, "an epoch is complete before it is closed");
        expect(epoch.is_granted(), "an epoch is complete whose operations were not let in");
        expect(epoch.grows || epoch.grants_missing == 0, "an epoch is complete without a peer");
        epochs_.erase(found);
        break;
    default:
        expect(false, "an event that is of no epoch");
        break;
    }
}

} // namespace sidelight::sim
