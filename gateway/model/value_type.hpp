// What a tag's value is, and how it lies in memory: the canonical slot form.
//
//   scalar, array   elements in host byte order, contiguous; boolean is one byte, 0 or 1
//   date_time       std::int64_t, ticks of 100 ns since 1601-01-01T00:00:00Z (OPC UA Part 6)
//   string          std::uint16_t length in bytes, then `capacity` bytes of which the first
//   byte_string     length count; the stride of an array element is 2 + capacity, made even
//   structure       the members at aligned offsets, as `struct_layout` says
//
// A slot is a multiple of 4 bytes long; what lies after the value in it is zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway {

enum class data_type : std::uint8_t {
    boolean,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    float32,
    float64,
    date_time,
    string,
    byte_string,
    structure,
};

/// "Boolean", "Int16", …, as a tag row and the reference show it. Static storage.
std::string_view name_of(data_type type) noexcept;

class struct_layout;

struct value_type {
    data_type element = data_type::boolean;
    std::int32_t array_length = -1;  ///< elements of an array, 1 and up; -1 for a scalar
    std::uint16_t capacity = 0;      ///< bytes a string or byte string may have; else 0
    /// Of a structure; null for everything else. Shared by every tag of the type.
    std::shared_ptr<const struct_layout> layout{};

    bool is_array() const noexcept { return array_length >= 0; }
    std::size_t element_count() const noexcept {
        return is_array() ? static_cast<std::size_t>(array_length) : 1;
    }
    friend bool operator==(const value_type&, const value_type&);
};

/// Bytes from one element to the next, in 1 to 65,538 for everything but structures.
std::size_t element_stride(const value_type& type) noexcept;

/// Bytes the whole value takes, without the padding of its slot.
std::size_t value_size(const value_type& type) noexcept;

/// 1, 2, 4 or 8: what an offset of this type inside a structure is a multiple of.
std::size_t alignment_of(const value_type& type) noexcept;

/// True where a PLC may hold bits that are no value (dates, strings): such a tag can be
/// UncertainSubstituteValue, and then still has a last good value beside it.
bool may_need_substitute(const value_type& type) noexcept;

/// The members of a structure, in order, at aligned offsets. Immutable once made.
class struct_layout {
  public:
    struct member {
        std::string name;
        value_type type;
        std::size_t offset = 0;  ///< bytes from the start of the structure
    };

    /// Lays the members out in the order given; offsets passed in are ignored. Throws
    /// std::invalid_argument without members, or with two of one name.
    explicit struct_layout(std::vector<member> members);

    const std::vector<member>& members() const noexcept { return members_; }
    /// Null when there is no member of this name.
    const member* find(std::string_view name) const noexcept;
    std::size_t size() const noexcept { return size_; }
    std::size_t alignment() const noexcept { return alignment_; }

  private:
    std::vector<member> members_;
    std::size_t size_ = 0;
    std::size_t alignment_ = 1;
};

/// A part of a value: a member, an element, or the value itself at offset 0.
struct value_view {
    std::size_t offset = 0;
    value_type type{};
};

/// The view on element `index` of an array, or on the member `name` of a structure, seen from a
/// view on the whole. False when there is no such part.
bool element_view(const value_view& whole, std::size_t index, value_view& part);
bool member_view(const value_view& whole, std::string_view name, value_view& part);

}  // namespace tagferry::gateway
