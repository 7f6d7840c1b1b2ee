#include "gateway/expose/opcua/values.hpp"

#include "gateway/expose/slot_values.hpp"

#include <cstring>

namespace tagferry::gateway {

device_read_codes opcua_device_read_codes() noexcept {
    using opcua::device_read_result;
    device_read_codes codes;
    codes.completed = static_cast<std::uint32_t>(device_read_result::completed);
    codes.timed_out = static_cast<std::uint32_t>(device_read_result::timed_out);
    codes.no_communication = static_cast<std::uint32_t>(device_read_result::no_communication);
    codes.busy = codes.timed_out;
    return codes;
}

opcua_values::opcua_values(const model_access& models, const tag_table& table,
                           device_read_hub& reads)
    : models_(models), table_(table), reads_(reads), packed_(table.limits().largest_value_bytes) {
    handles_.reserve(device_read_limits{}.tags_per_request);
    for (std::size_t type = 0; type < types_.size(); ++type) {
        types_[type] = to_opcua(static_cast<data_type>(type));
    }
}

bool opcua_values::read_current(const opcua::call& /*context*/, opcua::tag_handle handle,
                                std::span<std::byte> scratch, opcua::sample& out) {
    const tag_handle tag{handle.index, handle.generation};
    // The table's handles are those of the model, so a number needs no look at what it is.
    if (number_sample number; table_.read_number(tag, number)) {
        std::memcpy(scratch.data(), &number.bits, sizeof number.bits);
        out.status = static_cast<opcua::status_code>(number.status);
        out.source_time = number.source_time;
        out.server_time = number.update_time;
        out.value = number.has_value
                        ? opcua::value_view{to_opcua(number.type), -1, scratch.first(number.size)}
                        : opcua::value_view{};
        return true;
    }
    const tag_definition* const known = models_.model().find(tag);
    if (known == nullptr) {
        return false;
    }
    const std::size_t size = value_size(known->type);
    sample seen;
    std::span<const std::byte> bytes;
    if (size <= large_value_bytes) {
        if (table_.read(tag, scratch, seen) != read_result::done) {
            return false;
        }
        bytes = seen.has_value ? pack_slot(known->type, scratch.first(size))
                               : std::span<const std::byte>{};
    } else {
        if (table_.read_large(tag, seen, held_) != read_result::done) {
            return false;
        }
        bytes = held_.bytes();
        if (seen.has_value && needs_packing(known->type)) {
            std::memcpy(packed_.data(), bytes.data(), bytes.size());
            bytes = pack_slot(known->type, std::span(packed_).first(bytes.size()));
        }
    }
    out = {};
    out.status = static_cast<opcua::status_code>(seen.status);
    out.source_time = seen.source_time;
    out.server_time = seen.update_time;
    if (seen.has_value) {
        out.value = {to_opcua(known->type.element), known->type.array_length, bytes};
    }
    return true;
}

void opcua_values::read_numbers(const opcua::call& /*context*/,
                                std::span<const opcua::tag_handle> handles,
                                std::span<opcua::number_sample> into) {
    number_sample number;
    for (std::size_t at = 0; at < handles.size(); ++at) {
        opcua::number_sample& out = into[at];
        if (!table_.read_number({handles[at].index, handles[at].generation}, number)) {
            out.type = opcua::builtin_type::null;
            continue;
        }
        out.bits = number.bits;
        out.source_time = number.source_time;
        out.server_time = number.update_time;
        out.status = static_cast<opcua::status_code>(number.status);
        out.type = types_[static_cast<std::size_t>(number.type)];
        out.size = number.has_value ? static_cast<std::uint8_t>(number.size) : 0;
    }
}

bool opcua_values::read_device(const opcua::call& context,
                               std::span<const opcua::tag_handle> handles) {
    if (context.sink == nullptr || handles.size() > handles_.capacity()) {
        return false;
    }
    handles_.clear();
    for (const opcua::tag_handle handle : handles) {
        handles_.push_back({handle.index, handle.generation});
    }
    return reads_.start(handles_, context.deadline, *context.sink, context.token);
}

}  // namespace tagferry::gateway
