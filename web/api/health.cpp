#include "web/api/health.hpp"

#include "web/http/json_writer.hpp"

namespace tagferry::web {
namespace {

progress say(exchange& with, std::string_view json) {
    if (!with.answer.begin(http_status::ok, "application/json")) {
        return with.refuse(outcome::busy);
    }
    with.out().put(json);
    return progress::finished;
}

}  // namespace

progress health_resource::begin(exchange& with) {
    if (!process_.healthy()) {
        return with.refuse({.status = http_status::service_unavailable,
                            .code = "unhealthy",
                            .detail = "A part of the gateway stopped working.",
                            .hint = "The log says what failed; a restart is due."});
    }
    return say(with, "{\"status\":\"ok\"}");
}

progress readiness_resource::begin(exchange& with) {
    if (!process_.ready()) {
        return with.refuse({.status = http_status::service_unavailable,
                            .code = "not_ready",
                            .detail = process_.why_not_ready(),
                            .retry = true});
    }
    return say(with, "{\"status\":\"ready\"}");
}

progress version_resource::begin(exchange& with) {
    if (!with.answer.begin(http_status::ok, "application/json")) {
        return with.refuse(outcome::busy);
    }
    output_chain& out = with.out();
    out.put("{\"product\":\"tagferry\",\"version\":");
    put_json_string(out, process_.version());
    out.put(",\"started\":");
    put_json_time_or_null(out, process_.started());
    out.put('}');
    return out.ok() ? progress::finished : with.refuse(outcome::busy);
}

}  // namespace tagferry::web
