#include "gateway/model/value_type.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tagferry::gateway {
namespace {

std::size_t aligned(std::size_t offset, std::size_t alignment) noexcept {
    return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace

std::string_view name_of(data_type type) noexcept {
    switch (type) {
        case data_type::boolean:
            return "Boolean";
        case data_type::int8:
            return "SByte";
        case data_type::uint8:
            return "Byte";
        case data_type::int16:
            return "Int16";
        case data_type::uint16:
            return "UInt16";
        case data_type::int32:
            return "Int32";
        case data_type::uint32:
            return "UInt32";
        case data_type::int64:
            return "Int64";
        case data_type::uint64:
            return "UInt64";
        case data_type::float32:
            return "Float";
        case data_type::float64:
            return "Double";
        case data_type::date_time:
            return "DateTime";
        case data_type::string:
            return "String";
        case data_type::byte_string:
            return "ByteString";
        case data_type::structure:
            return "Structure";
    }
    return "Unknown";
}

bool operator==(const value_type& left, const value_type& right) {
    if (left.element != right.element || left.array_length != right.array_length ||
        left.capacity != right.capacity) {
        return false;
    }
    if (left.layout == right.layout) {
        return true;
    }
    if (left.layout == nullptr || right.layout == nullptr) {
        return false;
    }
    const auto same = [](const struct_layout::member& a, const struct_layout::member& b) {
        return a.name == b.name && a.type == b.type;
    };
    return std::ranges::equal(left.layout->members(), right.layout->members(), same);
}

std::size_t element_stride(const value_type& type) noexcept {
    switch (type.element) {
        case data_type::boolean:
        case data_type::int8:
        case data_type::uint8:
            return 1;
        case data_type::int16:
        case data_type::uint16:
            return 2;
        case data_type::int32:
        case data_type::uint32:
        case data_type::float32:
            return 4;
        case data_type::int64:
        case data_type::uint64:
        case data_type::float64:
        case data_type::date_time:
            return 8;
        case data_type::string:
        case data_type::byte_string:
            return aligned(sizeof(std::uint16_t) + type.capacity, 2);
        case data_type::structure:
            return type.layout == nullptr ? 0 : type.layout->size();
    }
    return 0;
}

std::size_t value_size(const value_type& type) noexcept {
    return element_stride(type) * type.element_count();
}

std::size_t alignment_of(const value_type& type) noexcept {
    switch (type.element) {
        case data_type::string:
        case data_type::byte_string:
            return 2;
        case data_type::structure:
            return type.layout == nullptr ? 1 : type.layout->alignment();
        default:
            return element_stride(type);
    }
}

bool may_need_substitute(const value_type& type) noexcept {
    if (type.element == data_type::structure && type.layout != nullptr) {
        return std::ranges::any_of(type.layout->members(), [](const struct_layout::member& member) {
            return may_need_substitute(member.type);
        });
    }
    return type.element == data_type::date_time || type.element == data_type::string;
}

struct_layout::struct_layout(std::vector<member> members) : members_(std::move(members)) {
    if (members_.empty()) {
        throw std::invalid_argument("a structure needs at least one member");
    }
    for (member& each : members_) {
        if (find(each.name) != &each) {
            throw std::invalid_argument("two members of a structure are named " + each.name);
        }
        const std::size_t alignment = alignment_of(each.type);
        each.offset = aligned(size_, alignment);
        size_ = each.offset + value_size(each.type);
        alignment_ = std::max(alignment_, alignment);
    }
    size_ = aligned(size_, alignment_);
}

const struct_layout::member* struct_layout::find(std::string_view name) const noexcept {
    const auto found = std::ranges::find(members_, name, &member::name);
    return found == members_.end() ? nullptr : &*found;
}

bool element_view(const value_view& whole, std::size_t index, value_view& part) {
    if (!whole.type.is_array() || index >= whole.type.element_count()) {
        return false;
    }
    part.offset = whole.offset + index * element_stride(whole.type);
    part.type = whole.type;
    part.type.array_length = -1;
    return true;
}

bool member_view(const value_view& whole, std::string_view name, value_view& part) {
    if (whole.type.is_array() || whole.type.layout == nullptr) {
        return false;
    }
    const struct_layout::member* const member = whole.type.layout->find(name);
    if (member == nullptr) {
        return false;
    }
    part.offset = whole.offset + member->offset;
    part.type = member->type;
    return true;
}

}  // namespace tagferry::gateway
