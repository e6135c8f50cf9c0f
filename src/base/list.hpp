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

    void push(T* object) noexcept
    {
        (object->*member) = {last_, nullptr};
        (last_ != nullptr ? (last_->*member).after : first_) = object;
        last_ = object;
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

private:
    T* first_ = nullptr;
    T* last_ = nullptr;
};

} // namespace sidelight
