// A circular doubly linked list through its own members: no allocation, removal of any member in
// O(1) without knowing the list, and a member that is destroyed takes itself out.
#pragma once

namespace tagferry::transport {

/// The link a member carries. `Tag` tells the lists apart that one object can be in at once.
template <class Tag>
class list_hook {
  public:
    list_hook() noexcept = default;
    ~list_hook() { unlink(); }
    list_hook(const list_hook&) = delete;
    list_hook& operator=(const list_hook&) = delete;

  private:
    template <class T, class OtherTag>
    friend class intrusive_list;

    bool linked() const noexcept { return next_ != this; }
    void unlink() noexcept {
        previous_->next_ = next_;
        next_->previous_ = previous_;
        next_ = previous_ = this;
    }

    list_hook* next_ = this;
    list_hook* previous_ = this;
};

/// Holds references to `T`, which derives from `list_hook<Tag>`. Members may outlive the list:
/// its destruction takes them all out.
template <class T, class Tag>
class intrusive_list {
  public:
    using hook = list_hook<Tag>;

    intrusive_list() noexcept = default;
    ~intrusive_list() {
        while (!empty()) {
            head_.next_->unlink();
        }
    }
    intrusive_list(const intrusive_list&) = delete;
    intrusive_list& operator=(const intrusive_list&) = delete;

    bool empty() const noexcept { return !head_.linked(); }
    bool has_one_member() const noexcept { return !empty() && head_.next_ == head_.previous_; }

    /// Whether the member is in a list of this tag.
    static bool linked(const T& member) noexcept {
        return static_cast<const hook&>(member).linked();
    }
    /// Takes the member out of whatever list of this tag it is in; nothing when it is in none.
    static void unlink(T& member) noexcept { static_cast<hook&>(member).unlink(); }

    /// The member must be in no list of this tag.
    void push_back(T& member) noexcept { insert_before(head_, member); }
    void push_front(T& member) noexcept { insert_before(*head_.next_, member); }

    /// First member. Not when empty.
    T& front() noexcept { return static_cast<T&>(*head_.next_); }
    /// First member, taken out; null when empty.
    T* pop_front() noexcept {
        if (empty()) {
            return nullptr;
        }
        T& member = front();
        unlink(member);
        return &member;
    }
    /// The member after this one, null at the end.
    T* after(T& member) noexcept {
        hook* const next = static_cast<hook&>(member).next_;
        return next == &head_ ? nullptr : static_cast<T*>(next);
    }
    /// Moves all of `other` behind the members of this list, in order, in O(1).
    void splice_back(intrusive_list& other) noexcept {
        if (other.empty()) {
            return;
        }
        hook* const first = other.head_.next_;
        hook* const last = other.head_.previous_;
        other.head_.next_ = other.head_.previous_ = &other.head_;
        first->previous_ = head_.previous_;
        head_.previous_->next_ = first;
        last->next_ = &head_;
        head_.previous_ = last;
    }

  private:
    static void insert_before(hook& place, hook& member) noexcept {
        member.next_ = &place;
        member.previous_ = place.previous_;
        place.previous_->next_ = &member;
        place.previous_ = &member;
    }

    hook head_;
};

}  // namespace tagferry::transport
