#include "web/http/connection_engine.hpp"

#include "transport/memory/operations.hpp"
#include "web/http/host_check.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tagferry::web {
namespace {

using transport::close_reason;
using transport::time_point;

// A backend keeps the answer's deadline itself; this much later it is taken to have forgotten.
constexpr auto answer_grace = std::chrono::seconds(2);

constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Not of somebody who uses the interface as it is meant: a line in the log.
bool is_suspicious(http_status status) noexcept {
    switch (status) {
        case http_status::bad_request:
        case http_status::unauthorized:
        case http_status::forbidden:
        case http_status::request_timeout:
        case http_status::content_too_large:
        case http_status::uri_too_long:
        case http_status::misdirected_request:
        case http_status::header_fields_too_large:
            return true;
        default:
            return false;
    }
}

std::string_view code_of(http_status status) noexcept {
    switch (status) {
        case http_status::request_timeout:
            return "request_timeout";
        case http_status::content_too_large:
            return "body_too_large";
        case http_status::uri_too_long:
            return "target_too_long";
        case http_status::header_fields_too_large:
            return "head_too_large";
        case http_status::expectation_failed:
            return "expectation_failed";
        case http_status::not_implemented:
            return "not_implemented";
        case http_status::version_not_supported:
            return "version_not_supported";
        case http_status::service_unavailable:
            return "busy";
        default:
            return "malformed_request";
    }
}

}  // namespace

connection_engine::connection_engine(const connection_shared& shared, std::string_view peer,
                                     channel_security security) noexcept
    : shared_(shared),
      out_(shared.output_pool, shared.limits.connection_output_slots),
      exchange_(*this, out_, shared.limits, shared.request_pool),
      peer_size_(std::min(peer.size(), longest_peer)) {
    std::copy_n(peer.data(), peer_size_, peer_.data());
    exchange_.who_ = {.session = 0,
                      .user = {},
                      .peer = {peer_.data(), peer_size_},
                      .role = shared.anonymous_role,
                      .security = security};
}

connection_engine::~connection_engine() {
    abandon();
    out_.clear();
}

void connection_engine::opened(transport::engine_host& host, time_point now) {
    host_ = &host;
    phase_ = phase::head;
    close_asked_ = false;
    scanned_ = 0;
    read_deadline_ = now + std::chrono::milliseconds{shared_.limits.idle_timeout_ms};
    send_deadline_ = time_point::max();
    answer_deadline_ = time_point::max();
}

transport::receive_result connection_engine::receive(std::span<std::byte> bytes, time_point now) {
    const std::string_view input = text_of(bytes);
    std::size_t consumed = 0;
    std::size_t steps = 0;
    while (consumed < input.size()) {
        if (phase_ == phase::closing) {
            return {input.size(), false};
        }
        if (phase_ == phase::upgraded) {
            const auto result = upgrade_->receive(bytes.subspan(consumed), now);
            return {consumed + result.consumed, result.more};
        }
        if (!wants_input().wanted) {
            break;
        }
        if (steps++ == shared_.limits.requests_per_turn) {
            return {consumed, true};
        }
        const std::size_t taken = take(input.substr(consumed), now);
        if (taken == 0 && phase_ != phase::closing) {
            break;
        }
        consumed += taken;
    }
    return {consumed, false};
}

transport::input_wish connection_engine::wants_input() const noexcept {
    if (phase_ == phase::upgraded) {
        return {.wanted = upgrade_->wants_input(), .frame_size = 0};
    }
    const bool reading = phase_ == phase::head || phase_ == phase::body;
    return {.wanted = reading && !pool_waiter::waiting() &&
                      out_.slots_held() < shared_.limits.output_high_water_slots,
            .frame_size = 0};
}

std::size_t connection_engine::take(std::string_view bytes, time_point now) {
    return phase_ == phase::body ? take_body(bytes, now) : take_head(bytes, now);
}

std::size_t connection_engine::take_head(std::string_view bytes, time_point now) {
    // RFC 9112, 2.2: empty lines before a request line are passed over.
    if (bytes.starts_with("\r\n")) {
        scanned_ = 0;
        return 2;
    }
    const bool first_look = scanned_ == 0;
    if (first_look && known_.begins(bytes)) {
        if (!admit()) {
            return 0;
        }
        if (!known_.is_request(exchange_.request_)) {
            exchange_.request_ = known_.request();
        }
        exchange_.match_ = known_.match();
        own_host_ = true;
        dispatch(now);
        return known_.size();
    }
    const head_scan scan = scan_head(bytes, scanned_, shared_.limits);
    if (scan.fault) {
        exchange_.request_ = {};
        refuse(scan.fault, close_reason::protocol_error, now);
        return 0;
    }
    if (scan.size == 0 || !admit()) {
        scanned_ = scan.size == 0 ? scan.clean : scanned_;
        if (first_look) {
            read_deadline_ = now + std::chrono::milliseconds{shared_.limits.head_timeout_ms};
        }
        return 0;
    }
    scanned_ = 0;
    parser_.emplace(shared_.limits);
    const request_fault fault = parser_->take_head(bytes.substr(0, scan.size), exchange_.request_);
    if (fault) {
        refuse(fault, close_reason::protocol_error, now);
    } else if (parser_->wants_body()) {
        begin_body(now);
    } else {
        route();
        if (own_host_) {
            known_.remember(exchange_.request_, exchange_.match_);
        } else {
            known_.forget();
        }
        dispatch(now);
    }
    return scan.size;
}

// An answer needs somewhere to go before its request is taken.
bool connection_engine::admit() noexcept {
    if (out_.open(2 * response::head_size)) {
        return true;
    }
    out_.forget_shortage();
    shared_.output_pool.wait(*this);
    return false;
}

void connection_engine::begin_body(time_point now) {
    if (!exchange_.retain()) {
        refuse({http_status::service_unavailable, "Too many requests with a body at once."},
               close_reason::requested, now);
        return;
    }
    phase_ = phase::body;
    read_deadline_ = now + std::chrono::milliseconds{shared_.limits.body_timeout_ms};
    parser_->body_storage(
        exchange_.kept_.bytes().subspan(exchange_.request_.text.size(), shared_.limits.body_size));
    if (exchange_.request_.is_http_1_1 &&
        !exchange_.request_.field(request_field::expect).empty()) {
        out_.put(continue_line);
    }
}

std::size_t connection_engine::take_body(std::string_view bytes, time_point now) {
    std::size_t consumed = 0;
    const request_fault fault = parser_->take_body(bytes, consumed);
    if (fault) {
        refuse(fault, close_reason::protocol_error, now);
    } else if (!parser_->wants_body()) {
        if (!admit()) {
            // The last bytes of the body are decoded; the request starts when `pull` finds room.
            phase_ = phase::producing;
            body_complete_ = true;
            return consumed;
        }
        exchange_.request_.body = parser_->body();
        route();
        dispatch(now);
    }
    return consumed;
}

void connection_engine::route() noexcept {
    const http_request& request = exchange_.request_;
    exchange_.match_ = shared_.site.route(request);
    exchange_.found_ = {};
    own_host_ = exchange_.match_.any_host ||
                is_own_host(request.field(request_field::host), shared_.host_names);
}

void connection_engine::dispatch(time_point now) {
    exchange_.now_ = now;
    exchange_.started_ = now;
    exchange_.answer.reset(exchange_.request_, exchange_.request_.keep_alive);
    read_deadline_ = time_point::max();
    const transport::operation_scope charged(exchange_.match_.kind);
    handle(start(exchange_.match_));
}

void connection_engine::handle(progress how) {
    response& answer = exchange_.answer;
    if (how != progress::finished && !exchange_.kept_) {
        // What was not retained does not outlive the turn.
        exchange_.request_.path = {};
    }
    switch (how) {
        case progress::finished:
            if (answer.begun()) {
                finish();
            } else {
                // Not even a problem found room: the connection's end is the answer.
                abort(close_reason::requested);
            }
            break;
        case progress::more:
            answer.pause();
            if (answer.head_only()) {
                exchange_.match_.resource->abandoned(exchange_);
                finish();
                break;
            }
            phase_ = phase::producing;
            host_->output_ready();
            break;
        case progress::waiting:
            phase_ = phase::waiting;
            answer_deadline_ = exchange_.started_ +
                               std::chrono::milliseconds{shared_.limits.answer_timeout_ms} +
                               answer_grace;
            break;
        case progress::later:
            if (answer.begun()) {
                answer.pause();
            }
            phase_ = phase::later;
            shared_.later.add(*this);
            break;
    }
}

void connection_engine::finish() {
    if (!exchange_.answer.finish()) {
        phase_ = phase::producing;
        last_part_ = true;
        shared_.output_pool.wait(*this);
        return;
    }
    last_part_ = false;
    count_answer();
    release_request();
    if (exchange_.upgrade_ != nullptr) {
        start_upgrade();
    } else if (exchange_.answer.keep_alive()) {
        phase_ = phase::head;
        read_deadline_ = exchange_.now_ + std::chrono::milliseconds{shared_.limits.idle_timeout_ms};
        host_->output_ready();
    } else {
        close_after_flush(close_reason::requested);
    }
}

void connection_engine::start_upgrade() {
    phase_ = phase::upgraded;
    upgrade_ = std::move(exchange_.upgrade_);
    upgrade_->opened(*this, exchange_.now_);
    host_->output_ready();
}

void connection_engine::produce_soon() noexcept {
    if (host_ != nullptr) {
        host_->output_ready();
    }
}

void connection_engine::count_answer() noexcept {
    const auto elapsed = shared_.clock.now() - exchange_.started_;
    const route_match& match = exchange_.match_;
    shared_.counters.count(match.handler, exchange_.answer.status(), elapsed);
    if (match.counts_as_operation) {
        transport::count_operation(match.kind, elapsed);
    }
    if (exchange_.answer.problem_code().empty()) {
        return;
    }
    const http_request& request = exchange_.request_;
    const refused_request what{static_cast<std::uint16_t>(exchange_.answer.status()),
                               name_of(request.method), request.path,
                               exchange_.answer.problem_code(), exchange_.answer.problem_detail()};
    if (exchange_.answer.status() == http_status::internal_error) {
        shared_.requests.failed(exchange_.who_, what);
    } else if (is_suspicious(exchange_.answer.status())) {
        shared_.requests.refused(exchange_.who_, what);
    }
}

void connection_engine::release_request() noexcept {
    exchange_.kept_.reset();
    exchange_.match_ = {};
    parser_.reset();
    ++token_.generation;
    answer_deadline_ = time_point::max();
}

void connection_engine::refuse(const request_fault& fault, close_reason why, time_point now) {
    exchange_.now_ = now;
    exchange_.started_ = now;
    exchange_.match_ = {};
    exchange_.answer.reset(exchange_.request_, false);
    if (exchange_.answer.put_problem(
            {.status = fault.status, .code = code_of(fault.status), .detail = fault.detail})) {
        exchange_.answer.finish();
        count_answer();
        release_request();
        close_after_flush(why);
        return;
    }
    out_.forget_shortage();
    abort(why);
}

void connection_engine::abort(close_reason why) noexcept {
    phase_ = phase::closing;
    close_asked_ = true;
    host_->abort(why);
}

// The driver gives what it still has to flush only a short time. A large answer is therefore sent
// under the send deadline first, and the close asked for when little is left.
void connection_engine::close_after_flush(close_reason why) noexcept {
    phase_ = phase::closing;
    read_deadline_ = time_point::max();
    closing_for_ = why;
    close_when_flushed();
}

void connection_engine::close_when_flushed() noexcept {
    constexpr std::size_t little = 1;
    if (!close_asked_ && out_.slots_held() <= little) {
        close_asked_ = true;
        host_->close_after_flush(closing_for_);
    }
}

void connection_engine::pull(transport::send_batch& batch, time_point now) {
    shared_.later.retry();
    if (phase_ == phase::head && !out_.sending()) {
        return;
    }
    if (phase_ == phase::upgraded && !pool_waiter::waiting()) {
        upgrade_->produce(now);
    }
    produce(now);
    out_.pull(batch);
    if (out_.sending() && send_deadline_ == time_point::max()) {
        send_deadline_ = now + std::chrono::milliseconds{shared_.limits.send_timeout_ms};
        send_progress_ = false;
    }
}

void connection_engine::produce(time_point now) {
    while (phase_ == phase::producing && !pool_waiter::waiting() &&
           out_.slots_held() < shared_.limits.output_high_water_slots) {
        if (last_part_) {
            finish();
            continue;
        }
        if (body_complete_) {
            if (!admit()) {
                return;
            }
            body_complete_ = false;
            exchange_.request_.body = parser_->body();
            route();
            dispatch(now);
            continue;
        }
        exchange_.now_ = now;
        const transport::operation_scope charged(exchange_.match_.kind);
        if (has_result_) {
            if (!admit()) {
                return;
            }
            has_result_ = false;
            handle(exchange_.match_.resource->resumed(exchange_, result_));
            continue;
        }
        if (!exchange_.answer.resume()) {
            shared_.output_pool.wait(*this);
            return;
        }
        const output_chain::mark before = out_.position();
        const progress how = exchange_.match_.resource->advance(exchange_);
        const bool stuck = how == progress::more && out_.size_since(before) == 0;
        handle(how);
        if (stuck && phase_ == phase::producing) {
            shared_.output_pool.wait(*this);
        }
    }
}

void connection_engine::written(const transport::write_report& report) {
    const bool was_full = out_.slots_held() >= shared_.limits.output_high_water_slots;
    out_.written(report.bytes);
    send_progress_ = true;
    if (!out_.sending()) {
        send_deadline_ = time_point::max();
    }
    // Between requests nothing is left to do, unless input was not wanted before this.
    if (host_ == nullptr || (phase_ == phase::head && out_.idle() && !was_full)) {
        return;
    }
    if (phase_ == phase::closing) {
        close_when_flushed();
    }
    if (phase_ == phase::upgraded) {
        upgrade_->sent();
    }
    host_->output_ready();
}

void connection_engine::slot_returned() noexcept {
    if (host_ != nullptr) {
        host_->output_ready();
    }
}

void connection_engine::go_on(time_point) {
    if (phase_ == phase::later) {
        phase_ = phase::producing;
        host_->output_ready();
    }
}

void connection_engine::resume(transport::completion_token token, std::uint32_t result,
                               time_point) {
    if (phase_ != phase::waiting || token != token_) {
        return;
    }
    ++token_.generation;
    answer_deadline_ = time_point::max();
    has_result_ = true;
    result_ = result;
    phase_ = phase::producing;
    host_->output_ready();
}

time_point connection_engine::deadline() const noexcept {
    const time_point own = std::min({read_deadline_, send_deadline_, answer_deadline_});
    return phase_ == phase::upgraded ? std::min(own, upgrade_->deadline()) : own;
}

void connection_engine::expire(time_point now) {
    if (now >= send_deadline_) {
        if (!send_progress_) {
            abort(close_reason::timed_out);
            return;
        }
        send_progress_ = false;
        send_deadline_ = now + std::chrono::milliseconds{shared_.limits.send_timeout_ms};
    }
    if (now >= answer_deadline_) {
        answer_deadline_ = time_point::max();
        abandon();
        exchange_.now_ = now;
        handle(exchange_.refuse(outcome::timed_out));
    }
    if (phase_ == phase::upgraded && now >= upgrade_->deadline()) {
        upgrade_->expire(now);
    }
    if (now < read_deadline_) {
        return;
    }
    read_deadline_ = time_point::max();
    if (phase_ == phase::head && scanned_ == 0) {
        close_after_flush(close_reason::timed_out);
        return;
    }
    if (phase_ == phase::head) {
        exchange_.request_ = {};
    }
    refuse({http_status::request_timeout, "The request did not arrive in time."},
           close_reason::timed_out, now);
}

// Lets the resource release what it started for an answer that nobody will get.
void connection_engine::abandon() noexcept {
    const bool started = phase_ == phase::waiting || phase_ == phase::later ||
                         (phase_ == phase::producing && !last_part_ && !body_complete_);
    if (started && exchange_.match_.resource != nullptr) {
        exchange_.match_.resource->abandoned(exchange_);
    }
    has_result_ = false;
    body_complete_ = false;
    shared_.later.remove(*this);
    ++token_.generation;
}

void connection_engine::closed(const transport::close_info&, time_point) {
    abandon();
    release_request();
    if (upgrade_ != nullptr) {
        upgrade_->closed();
        upgrade_.reset();
    }
    exchange_.upgrade_.reset();
    shared_.output_pool.stop_waiting(*this);
    out_.clear();
    last_part_ = false;
    phase_ = phase::closing;
    host_ = nullptr;
    read_deadline_ = time_point::max();
    send_deadline_ = time_point::max();
}

}  // namespace tagferry::web
