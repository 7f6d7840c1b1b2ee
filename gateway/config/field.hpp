// What a field of the configuration is: the one description that parser, checks, schema and
// reference are made from (fields.cpp holds the table).
#pragma once

#include "gateway/config/address_checker.hpp"
#include "gateway/config/location.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::gateway::config {

enum class field_kind : std::uint8_t {
    text,
    integer,
    boolean,
    choice,  ///< one of `choices`, in the order of the enumerators
    text_list,
    object,
    object_list,
};

struct object_description;

/// One field. The accessors take the object that owns the field; those that do not fit the kind
/// are null. `minimum` and `maximum` bound an integer's value, a text's length in bytes (of each
/// element of a list).
struct field {
    std::string_view name{};
    field_kind kind = field_kind::text;
    std::string_view help{};
    std::string_view unit{};
    std::string_view metric{};        ///< for a limit: the metric that shows how much of it is used
    std::string_view default_text{};  ///< what an absent field becomes, where that is worked out
    std::string_view example{};
    std::int64_t minimum = 0;
    std::int64_t maximum = 0;
    bool required = false;
    std::span<const std::string_view> choices{};
    const object_description* object = nullptr;

    std::string& (*text)(void*) = nullptr;
    bool& (*boolean)(void*) = nullptr;
    std::int64_t (*get_integer)(const void*) = nullptr;  ///< of a choice: its index
    void (*set_integer)(void*, std::int64_t) = nullptr;
    void* (*member)(void*) = nullptr;  ///< of an object
    void* (*append)(void*) = nullptr;  ///< of an object list: a new element
    std::optional<text_fault> (*append_text)(void*, std::string_view, location) = nullptr;
    void (*clear)(void*) = nullptr;    ///< of a text list
    location& (*at)(void*) = nullptr;  ///< where the value was written: of a
                                       ///< text its first character, past the quote

    constexpr field in(std::string_view unit_name) const {
        field copy = *this;
        copy.unit = unit_name;
        return copy;
    }
    constexpr field from(std::int64_t least, std::int64_t most) const {
        field copy = *this;
        copy.minimum = least;
        copy.maximum = most;
        return copy;
    }
    constexpr field needed() const {
        field copy = *this;
        copy.required = true;
        return copy;
    }
    constexpr field measured_by(std::string_view metric_name) const {
        field copy = *this;
        copy.metric = metric_name;
        return copy;
    }
    constexpr field becomes(std::string_view words) const {
        field copy = *this;
        copy.default_text = words;
        return copy;
    }
    constexpr field such_as(std::string_view text_example) const {
        field copy = *this;
        copy.example = text_example;
        return copy;
    }
    template <auto Member>
    constexpr field located() const;
};

/// One kind of object.
struct object_description {
    std::string_view name;  ///< as schema and reference call it
    std::string_view help;
    std::span<const field> fields;
    location& (*at)(void*) = nullptr;  ///< where an element was written
};

/// The field of this name, nullptr when there is none.
const field* find_field(const object_description& object, std::string_view name) noexcept;

namespace detail {

template <class>
struct member_traits;
template <class Owner, class Value>
struct member_traits<Value Owner::*> {
    using owner = Owner;
    using value = Value;
};
template <auto Member>
using owner_of = typename member_traits<decltype(Member)>::owner;
template <auto Member>
using value_of = typename member_traits<decltype(Member)>::value;

template <auto Member>
value_of<Member>& reach(void* object) {
    return static_cast<owner_of<Member>*>(object)->*Member;
}
template <auto Member>
void* reach_untyped(void* object) {
    return &reach<Member>(object);
}
template <auto Member>
std::int64_t read_integer(const void* object) {
    return static_cast<std::int64_t>(static_cast<const owner_of<Member>*>(object)->*Member);
}
template <auto Member>
void write_integer(void* object, std::int64_t value) {
    reach<Member>(object) = static_cast<value_of<Member>>(value);
}
template <auto Member>
void* append_object(void* object) {
    return &reach<Member>(object).emplace_back();
}
template <auto Member>
void clear_list(void* object) {
    reach<Member>(object).clear();
}
template <auto Member>
std::optional<text_fault> append_plain(void* object, std::string_view text, location) {
    reach<Member>(object).emplace_back(text);
    return std::nullopt;
}

}  // namespace detail

template <auto Member>
constexpr field field::located() const {
    field copy = *this;
    copy.at = &detail::reach<Member>;
    return copy;
}

template <auto Member>
constexpr field text_field(std::string_view name, std::string_view help) {
    field made{.name = name, .kind = field_kind::text, .help = help, .maximum = 255};
    made.text = &detail::reach<Member>;
    return made;
}

template <auto Member>
constexpr field integer_field(std::string_view name, std::string_view help) {
    field made{.name = name, .kind = field_kind::integer, .help = help};
    made.get_integer = &detail::read_integer<Member>;
    made.set_integer = &detail::write_integer<Member>;
    return made;
}

template <auto Member>
constexpr field boolean_field(std::string_view name, std::string_view help) {
    field made{.name = name, .kind = field_kind::boolean, .help = help};
    made.boolean = &detail::reach<Member>;
    return made;
}

/// @param choices the words for the enumerators, in their order. Static storage.
template <auto Member>
constexpr field choice_field(std::string_view name, std::string_view help,
                             std::span<const std::string_view> choices) {
    field made{.name = name, .kind = field_kind::choice, .help = help, .choices = choices};
    made.get_integer = &detail::read_integer<Member>;
    made.set_integer = &detail::write_integer<Member>;
    return made;
}

/// @param append takes one element of the list; by default the text as it is.
template <auto Member>
constexpr field text_list_field(std::string_view name, std::string_view help) {
    field made{.name = name, .kind = field_kind::text_list, .help = help, .maximum = 4'096};
    made.append_text = &detail::append_plain<Member>;
    made.clear = &detail::clear_list<Member>;
    return made;
}

template <auto Member>
constexpr field object_field(std::string_view name, std::string_view help,
                             const object_description& object) {
    field made{.name = name, .kind = field_kind::object, .help = help, .object = &object};
    made.member = &detail::reach_untyped<Member>;
    return made;
}

template <auto Member>
constexpr field object_list_field(std::string_view name, std::string_view help,
                                  const object_description& object) {
    field made{.name = name, .kind = field_kind::object_list, .help = help, .object = &object};
    made.append = &detail::append_object<Member>;
    return made;
}

}  // namespace tagferry::gateway::config
