#include "protocols/opcua/nodes/server_object.hpp"

#include "protocols/opcua/nodes/address_space.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

namespace tagferry::opcua {
namespace {

constexpr std::uint32_t state_running = 0;
constexpr std::uint32_t max_nodes_per_translate = id::
    server_server_capabilities_operation_limits_max_nodes_per_translate_browse_paths_to_node_ids;

void write_strings(encoder& out, std::initializer_list<std::string_view> texts) noexcept {
    out.variant_array_head(builtin_type::string, static_cast<std::uint32_t>(texts.size()));
    for (const std::string_view text : texts) {
        out.string(text);
    }
}

void write_text(encoder& out, std::string_view text) noexcept {
    out.variant_head(builtin_type::string);
    out.string(text.data() == nullptr ? std::string_view{""} : text);
}

void write_number(encoder& out, std::uint32_t number) noexcept {
    out.variant_head(builtin_type::uint32);
    out.u32(number);
}

void write_short(encoder& out, std::uint32_t number) noexcept {
    out.variant_head(builtin_type::uint16);
    out.u16(static_cast<std::uint16_t>(number > 0xFFFF ? 0xFFFF : number));
}

void write_flag(encoder& out, bool flag) noexcept {
    out.variant_head(builtin_type::boolean);
    out.boolean(flag);
}

void write_time(encoder& out, transport::wall_time_ns when) noexcept {
    out.variant_head(builtin_type::date_time);
    out.i64(date_time_ticks(when));
}

void write_build_info_fields(encoder& out, const identity& self) noexcept {
    out.string(self.product_uri);
    out.string(self.manufacturer_name);
    out.string(self.product_name);
    out.string(self.software_version);
    out.string(self.build_number);
    out.i64(date_time_ticks(self.build_date));
}

// An ExtensionObject in a Variant; `fields` writes the body, whose length is patched after.
template <typename Fields>
void write_structure(encoder& out, std::uint32_t encoding_id, Fields&& fields) noexcept {
    out.variant_head(builtin_type::extension_object);
    out.numeric_id(0, encoding_id);
    out.u8(1);
    std::byte* const length = out.reserve<std::int32_t>();
    const std::size_t begin = out.used();
    fields();
    encoder::patch(length, static_cast<std::int32_t>(out.used() - begin));
}

bool write_status(encoder& out, std::uint32_t number, const identity& self,
                  transport::wall_time_ns now) {
    switch (number) {
        case id::server_server_status:
            write_structure(out, id::server_status_data_type_binary, [&] {
                out.i64(date_time_ticks(self.start_time));
                out.i64(date_time_ticks(now));
                out.u32(state_running);
                write_build_info_fields(out, self);
                out.u32(0);
                out.localized_text({});
            });
            return true;
        case id::server_server_status_start_time:
            write_time(out, self.start_time);
            return true;
        case id::server_server_status_current_time:
            write_time(out, now);
            return true;
        case id::server_server_status_state:
            out.variant_head(builtin_type::int32);
            out.u32(state_running);
            return true;
        case id::server_server_status_build_info:
            write_structure(out, id::build_info_binary,
                            [&] { write_build_info_fields(out, self); });
            return true;
        case id::server_server_status_build_info_product_name:
            write_text(out, self.product_name);
            return true;
        case id::server_server_status_build_info_product_uri:
            write_text(out, self.product_uri);
            return true;
        case id::server_server_status_build_info_manufacturer_name:
            write_text(out, self.manufacturer_name);
            return true;
        case id::server_server_status_build_info_software_version:
            write_text(out, self.software_version);
            return true;
        case id::server_server_status_build_info_build_number:
            write_text(out, self.build_number);
            return true;
        case id::server_server_status_build_info_build_date:
            write_time(out, self.build_date);
            return true;
        case id::server_server_status_seconds_till_shutdown:
            write_number(out, 0);
            return true;
        case id::server_server_status_shutdown_reason:
            out.variant_head(builtin_type::localized_text);
            out.localized_text({});
            return true;
        default:
            return false;
    }
}

// The fields of ServerDiagnosticsSummaryDataType in their order (Part 5 §12.9). Views do not exist,
// and what a session's abort would be here is a session that ran out of time.
struct summary_field {
    std::uint32_t number;
    transport::shown_number server_counters::*count;  ///< null: always 0
};
constexpr std::array<summary_field, 12> summary_fields = {{
    {id::server_server_diagnostics_server_diagnostics_summary_server_view_count, nullptr},
    {id::server_server_diagnostics_server_diagnostics_summary_current_session_count,
     &server_counters::sessions},
    {id::server_server_diagnostics_server_diagnostics_summary_cumulated_session_count,
     &server_counters::sessions_created},
    {id::server_server_diagnostics_server_diagnostics_summary_security_rejected_session_count,
     &server_counters::sessions_rejected_access},
    {id::server_server_diagnostics_server_diagnostics_summary_rejected_session_count,
     &server_counters::sessions_rejected},
    {id::server_server_diagnostics_server_diagnostics_summary_session_timeout_count,
     &server_counters::sessions_timed_out},
    {id::server_server_diagnostics_server_diagnostics_summary_session_abort_count, nullptr},
    {id::server_server_diagnostics_server_diagnostics_summary_current_subscription_count,
     &server_counters::subscriptions},
    {id::server_server_diagnostics_server_diagnostics_summary_cumulated_subscription_count,
     &server_counters::subscriptions_created},
    {id::server_server_diagnostics_server_diagnostics_summary_publishing_interval_count,
     &server_counters::publishing_intervals},
    {id::server_server_diagnostics_server_diagnostics_summary_security_rejected_requests_count,
     &server_counters::requests_rejected_access},
    {id::server_server_diagnostics_server_diagnostics_summary_rejected_requests_count,
     &server_counters::requests_rejected},
}};

bool write_diagnostics(encoder& out, std::uint32_t number,
                       const server_counters& counted) noexcept {
    const auto value_of = [&](const summary_field& field) {
        return field.count == nullptr ? 0
                                      : static_cast<std::uint32_t>((counted.*field.count).value());
    };
    if (number == id::server_server_diagnostics_server_diagnostics_summary) {
        write_structure(out, id::server_diagnostics_summary_data_type_binary, [&] {
            for (const summary_field& field : summary_fields) {
                out.u32(value_of(field));
            }
        });
        return true;
    }
    for (const summary_field& field : summary_fields) {
        if (field.number == number) {
            write_number(out, value_of(field));
            return true;
        }
    }
    return false;
}

bool write_configuration(encoder& out, std::uint32_t number, const identity& self) noexcept {
    switch (number) {
        case id::server_configuration_application_uri:
            write_text(out, self.application_uri);
            return true;
        case id::server_configuration_product_uri:
            write_text(out, self.product_uri);
            return true;
        case id::server_configuration_application_type:
            out.variant_head(builtin_type::int32);
            out.i32(0);  // a server, and no client or discovery server
            return true;
        default:
            return false;
    }
}

// HistoryServerCapabilities: no history is kept, and every one of them says so.
bool write_absent_history(encoder& out, std::uint32_t number) noexcept {
    switch (number) {
        case id::history_server_capabilities_access_history_data_capability:
        case id::history_server_capabilities_access_history_events_capability:
        case id::history_server_capabilities_insert_data_capability:
        case id::history_server_capabilities_replace_data_capability:
        case id::history_server_capabilities_update_data_capability:
        case id::history_server_capabilities_delete_raw_capability:
        case id::history_server_capabilities_delete_at_time_capability:
        case id::history_server_capabilities_insert_event_capability:
        case id::history_server_capabilities_replace_event_capability:
        case id::history_server_capabilities_update_event_capability:
        case id::history_server_capabilities_delete_event_capability:
        case id::history_server_capabilities_insert_annotation_capability:
        case id::history_server_capabilities_server_timestamp_supported:
            write_flag(out, false);
            return true;
        default:
            return false;
    }
}

bool write_subscription_limit(encoder& out, std::uint32_t number, const limits& bounds) noexcept {
    switch (number) {
        case id::server_server_capabilities_max_subscriptions:
            write_number(out, bounds.max_subscriptions);
            return true;
        case id::server_server_capabilities_max_subscriptions_per_session:
            write_number(out, bounds.max_subscriptions_per_session);
            return true;
        case id::server_server_capabilities_max_monitored_items:
            write_number(out, bounds.max_monitored_items);
            return true;
        case id::server_server_capabilities_max_monitored_items_per_subscription:
            write_number(out, bounds.max_monitored_items_per_subscription);
            return true;
        case id::server_server_capabilities_max_monitored_items_queue_size:
            write_number(out, bounds.max_item_queue_size);
            return true;
        case id::server_server_capabilities_operation_limits_max_monitored_items_per_call:
            write_number(out, bounds.max_monitored_items_per_call);
            return true;
        default:
            return false;
    }
}

// What is advertised is what is enforced (E63, E38): the same structure feeds both.
bool write_capability(encoder& out, std::uint32_t number, const limits& bounds) {
    switch (number) {
        case id::server_server_capabilities_server_profile_array:
            // A profile is claimed once every conformance case of it passes.
            write_strings(out, {});
            return true;
        case id::server_server_capabilities_conformance_units:
            out.variant_array_head(builtin_type::qualified_name, 0);
            return true;
        case id::server_server_capabilities_software_certificates:
            out.variant_array_head(builtin_type::extension_object, 0);
            return true;
        case id::server_server_capabilities_locale_id_array:
            write_strings(out, {"en"});
            return true;
        case id::server_server_capabilities_min_supported_sample_rate:
            out.variant_head(builtin_type::float64);
            out.float64(0);
            return true;
        case id::server_server_capabilities_max_browse_continuation_points:
            write_short(out, bounds.max_continuation_points_per_session);
            return true;
        case id::server_server_capabilities_max_query_continuation_points:
        case id::server_server_capabilities_max_history_continuation_points:
            write_short(out, 0);
            return true;
        case id::server_server_capabilities_max_array_length:
            write_number(out, bounds.max_array_length);
            return true;
        case id::server_server_capabilities_max_string_length:
            write_number(out, bounds.max_string_length);
            return true;
        case id::server_server_capabilities_max_byte_string_length:
            write_number(out, bounds.max_byte_string_length);
            return true;
        case id::server_server_capabilities_max_sessions:
            write_number(out, bounds.max_sessions);
            return true;
        case id::server_server_capabilities_operation_limits_max_nodes_per_read:
            write_number(out, bounds.max_nodes_per_read);
            return true;
        case id::server_server_capabilities_operation_limits_max_nodes_per_write:
            write_number(out, bounds.max_nodes_per_write);
            return true;
        case id::server_server_capabilities_operation_limits_max_nodes_per_browse:
            write_number(out, bounds.max_nodes_per_browse);
            return true;
        case id::server_server_capabilities_operation_limits_max_nodes_per_register_nodes:
            write_number(out, bounds.max_nodes_per_register);
            return true;
        case max_nodes_per_translate:
            write_number(out, bounds.max_nodes_per_translate);
            return true;
        default:
            return write_subscription_limit(out, number, bounds);
    }
}

}  // namespace

bool write_live_value(encoder& out, std::uint32_t number, const server_view& server,
                      transport::wall_time_ns now) {
    const identity& who = server.ports.identity.who_we_are();
    switch (number) {
        case id::server_server_array:
            write_strings(out, {who.application_uri});
            return true;
        case id::server_namespace_array:
            write_strings(out, {standard_uri, who.application_uri, devices_uri, tags_uri});
            return true;
        case id::server_service_level:
            out.variant_head(builtin_type::byte);
            out.u8(server.ports.identity.service_level());
            return true;
        case id::server_auditing:
            write_flag(out, false);
            return true;
        case id::server_server_diagnostics_enabled_flag:
            write_flag(out, true);  // the summary is always kept
            return true;
        case id::server_server_redundancy_redundancy_support:
            out.variant_head(builtin_type::int32);
            out.i32(0);
            return true;
        default:
            return write_status(out, number, who, now) ||
                   write_diagnostics(out, number, server.counted) ||
                   write_capability(out, number, server.bounds) ||
                   write_configuration(out, number, who) || write_absent_history(out, number);
    }
}

bool value_lives(std::uint32_t number) noexcept {
    switch (number) {
        case id::server_service_level:
        case id::server_server_status:
        case id::server_server_status_current_time:
        case id::server_server_status_state:
        case id::server_server_status_seconds_till_shutdown:
        case id::server_server_status_shutdown_reason:
        case id::server_server_diagnostics_server_diagnostics_summary:
            return true;
        default:
            return std::any_of(summary_fields.begin(), summary_fields.end(),
                               [&](const summary_field& field) { return field.number == number; });
    }
}

}  // namespace tagferry::opcua
