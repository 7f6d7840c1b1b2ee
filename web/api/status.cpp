#include "web/api/status.hpp"

#include "web/http/json_writer.hpp"

namespace tagferry::web {
namespace {

template <typename Number>
void put_number(output_chain& out, std::string_view name, Number value) noexcept {
    out.put(name);
    put_json_number(out, value);
}

void put_durations(output_chain& out, const transport::operation_totals& totals) noexcept {
    put_number(out, "{\"operations\":", totals.operations);
    put_number(out, ",\"seconds\":", totals.duration_sum_s);
    out.put(",\"buckets\":");
    for (std::size_t i = 0; i < totals.duration_buckets.size(); ++i) {
        out.put(i == 0 ? "[[" : ",[");
        if (i < transport::operation_duration_bounds_s.size()) {
            put_json_number(out, transport::operation_duration_bounds_s[i]);
        } else {
            out.put("null");
        }
        put_number(out, ",", totals.duration_buckets[i]);
        out.put(']');
    }
    out.put("]}");
}

void put_opcua(output_chain& out, const overview_row& row) noexcept {
    out.put("{\"endpoints\":[");
    bool first = true;
    for (const std::string& endpoint : row.opcua_endpoints) {
        out.put(first ? "" : ",");
        put_json_string(out, endpoint);
        first = false;
    }
    put_number(out, "],\"sessions\":", row.opcua_sessions);
    out.put('}');
}

}  // namespace

progress status_resource::begin(exchange& with) {
    overview_row row;
    const outcome found = whole_.describe(with.context(), row);
    if (found != outcome::done) {
        return with.refuse(found);
    }
    if (!with.answer.begin(http_status::ok, "application/json")) {
        return with.refuse(outcome::busy);
    }
    output_chain& out = with.out();
    out.put("{\"now\":");
    put_json_time_or_null(out, row.now);
    out.put(",\"version\":");
    put_json_string(out, process_.version());
    out.put(",\"started\":");
    put_json_time_or_null(out, process_.started());
    put_number(out, ",\"revision\":", row.revision);
    put_number(out, ",\"connections\":{\"total\":", row.connections);
    put_number(out, ",\"up\":", row.connections_up);
    put_number(out, "},\"tags\":{\"total\":", row.tags_good + row.tags_uncertain + row.tags_bad);
    put_number(out, ",\"good\":", row.tags_good);
    put_number(out, ",\"uncertain\":", row.tags_uncertain);
    put_number(out, ",\"bad\":", row.tags_bad);
    out.put("},\"opcua\":");
    put_opcua(out, row);
    out.put(",\"reads\":");
    put_durations(out, row.reads);
    out.put('}');
    return out.ok() ? progress::finished : with.refuse(outcome::busy);
}

}  // namespace tagferry::web
