// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sidelight {

/// A first-in first-out list of objects that are linked by their own member `T* next`.
/// An object is in at most one such list at a time. Owns nothing.
template <class T>
class Fifo {
public:
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    [[nodiscard]] T* front() const noexcept { return first_; }
    [[nodiscard]] T* back() const noexcept { return last_; }

    void push(T* object) noexcept
    {
        object->next = nullptr;
        (last_ != nullptr ? last_->next : first_) = object;
        last_ = object;
    }

    void push_front(T* object) noexcept
    {
        object->next = first_;
        first_ = object;
        last_ = last_ != nullptr ? last_ : object;
    }

    T* pop() noexcept
    {
        T* object = first_;
        first_ = object->next;
        if (first_ == nullptr) {
            last_ = nullptr;
        }
        return object;
    }

    /// Takes out every object for which `gone` answers true, in order. `gone` may give it away.
    template <class Predicate>
    void remove_if(Predicate gone) noexcept
    {
        Fifo kept;
        while (!empty()) {
            T* object = pop();
            if (!gone(*object)) {
                kept.push(object);
            }
        }
        *this = kept;
    }

private:
    T* first_ = nullptr;
    T* last_ = nullptr;
};

/// The two links of an object in a List.
template <class T>
struct Links {
    T* before = nullptr;
    T* after = nullptr;
};

/// A list that an object can leave from the middle; `member` is the object's Links for this list.
template <class T, Links<T> T::*member>
class List {
public:
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    [[nodiscard]] T* front() const noexcept { return first_; }
    [[nodiscard]] static T* after(const T& object) noexcept { return (object.*member).after; }

    void push(T* object) noexcept { insert_before(object, nullptr); }

    /// `behind`: null for the end.
    void insert_before(T* object, T* behind) noexcept
    {
        T*& before = behind != nullptr ? (behind->*member).before : last_;
        (object->*member) = {before, behind};
        (before != nullptr ? (before->*member).after : first_) = object;
        before = object;
    }

    void push_front(T* object) noexcept
    {
        (object->*member) = {nullptr, first_};
        (first_ != nullptr ? (first_->*member).before : last_) = object;
        first_ = object;
    }

    void remove(T* object) noexcept
    {
        auto [before, after] = object->*member;
        (before != nullptr ? (before->*member).after : first_) = after;
        (after != nullptr ? (after->*member).before : last_) = before;
        (object->*member) = {};
    }

    /// Visits all, in order. The one that is visited may leave.
    template <class Visit>
    void for_each(Visit visit) noexcept
    {
        for (T* object = first_; object != nullptr;) {
            T* next = after(*object);
            visit(*object);
            object = next;
        }
    }

private:
    T* first_ = nullptr;
    T* last_ = nullptr;
};

} // namespace sidelight
