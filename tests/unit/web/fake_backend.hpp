// A backend that lives in memory: tags in a list, time and completions by hand.
#pragma once

#include "transport/time/clock.hpp"
#include "web/backend/backend.hpp"
#include "web/backend/pattern.hpp"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::web::testing {

inline constexpr std::uint32_t bad_no_communication = 0x80310000;

class fake_clock final : public transport::clock {
  public:
    transport::time_point now() const noexcept override { return now_; }
    transport::wall_time_ns wall_now() const noexcept override { return 1'700'000'000'000'000'000; }
    void advance(transport::duration by) noexcept { now_ += by; }

  private:
    transport::time_point now_{std::chrono::hours(1)};
};

template <typename T>
std::vector<std::byte> bytes_of(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

inline std::vector<std::byte> counted_bytes_of(std::string_view text) {
    auto bytes = bytes_of(static_cast<std::uint16_t>(text.size()));
    for (const char byte : text) {
        bytes.push_back(static_cast<std::byte>(byte));
    }
    return bytes;
}

struct fake_tag {
    std::string path;
    value_type type = value_type::none;
    std::int32_t array_length = scalar;
    std::vector<std::byte> bytes;
    std::uint32_t status = 0;
    std::string_view status_name = "Good";
    std::string reason = {};
    transport::wall_time_ns source_timestamp = 1'700'000'000'250'000'000;
    std::vector<std::byte> last_good = {};
    bool hidden = false;
    std::string description = {};
    std::uint16_t reason_id = 0;
    bool writable = false;
    std::uint16_t capacity = 0;
};

class fake_values final : public values {
  public:
    std::deque<fake_tag> tags;
    std::size_t largest = 4096;
    std::size_t steps_before_later = 1000;
    outcome refresh_answer = outcome::deferred;

    struct refresh_call {
        std::vector<tag_handle> tags;
        transport::duration max_age;
        transport::completion_sink* sink;
        transport::completion_token token;
    };
    std::vector<refresh_call> refreshes;
    std::size_t cancelled = 0;
    std::uint64_t reads = 0;

    outcome find(const call&, std::string_view path, tag_handle& found) override {
        for (std::size_t i = 0; i < tags.size(); ++i) {
            if (tags[i].path == path) {
                found = {static_cast<std::uint32_t>(i), 1};
                return tags[i].hidden ? outcome::forbidden : outcome::done;
            }
        }
        return outcome::not_found;
    }

    outcome read(const call&, tag_handle tag, std::span<std::byte> scratch,
                 value_row& row) override {
        ++reads;
        if (tag.index >= tags.size() || tag.generation != 1) {
            return outcome::not_found;
        }
        const fake_tag& from = tags[tag.index];
        const std::size_t size = std::min(from.bytes.size(), scratch.size() / 2);
        std::copy_n(from.bytes.begin(), size, scratch.begin());
        row = {};
        row.handle = tag;
        row.path = from.path;
        row.value = {from.type, from.array_length, scratch.first(size)};
        row.status = from.status;
        row.status_name = from.status_name;
        row.reason = from.reason;
        row.reason_id = from.reason_id;
        row.source_timestamp = from.source_timestamp;
        row.server_timestamp = 1'700'000'001'000'000'000;
        if (!from.last_good.empty()) {
            const auto half = scratch.subspan(scratch.size() / 2);
            std::copy(from.last_good.begin(), from.last_good.end(), half.begin());
            row.has_last_good = true;
            row.last_good = {from.type, from.array_length, half.first(from.last_good.size())};
            row.last_good_timestamp = 1'699'999'999'000'000'000;
        }
        return outcome::done;
    }

    outcome refresh(const call& context, std::span<const tag_handle> asked,
                    transport::duration max_age) override {
        if (refresh_answer == outcome::deferred) {
            refreshes.push_back(
                {{asked.begin(), asked.end()}, max_age, context.sink, context.token});
        }
        return refresh_answer;
    }

    void cancel_refresh(transport::completion_sink& sink,
                        transport::completion_token token) noexcept override {
        cancelled += std::erase_if(refreshes, [&](const refresh_call& call) {
            return call.sink == &sink && call.token == token;
        });
    }

    outcome next(const call&, std::string_view pattern, tag_position& position,
                 tag_row& row) override {
        for (std::size_t step = 0; position < tags.size(); ++step) {
            if (step == steps_before_later) {
                return outcome::later;
            }
            const std::size_t at = position++;
            if (!tags[at].hidden && matches(pattern, tags[at].path)) {
                fill(at, row);
                return outcome::done;
            }
        }
        return outcome::end;
    }

    outcome describe(const call&, tag_handle tag, tag_row& row) override {
        fill(tag.index, row);
        return outcome::done;
    }

    std::size_t largest_value_size() const noexcept override { return largest; }
    std::uint64_t model_revision = 17;
    std::uint64_t revision() const noexcept override { return model_revision; }

  private:
    void fill(std::size_t at, tag_row& row) {
        node_id_ = "ns=3;s=" + tags[at].path;
        row = {};
        row.handle = {static_cast<std::uint32_t>(at), 1};
        row.path = tags[at].path;
        row.node_id = node_id_;
        row.type = name_of(tags[at].type);
        row.address = "DB1.DBD0";
        row.scan_class = "fast";
        row.description = tags[at].description;
        row.writable = tags[at].writable;
        row.element = tags[at].type;
        row.array_length = tags[at].array_length;
        row.capacity = tags[at].capacity;
    }

    std::string node_id_;
};

/// A root with connections named after the first part of each tag's path, and tags right below.
class fake_browse final : public browse {
  public:
    explicit fake_browse(fake_values& source) : values_(source) {}

    outcome node(const call&, std::string_view path, node_row& row) override {
        row = {};
        row.path = path;
        row.kind = path.empty() ? node_kind::root : node_kind::connection;
        const auto known = names();
        for (std::size_t i = 0; i < known.size(); ++i) {
            if (known[i] == path) {
                row.handle = {static_cast<std::uint32_t>(i + 1), 1};
                return outcome::done;
            }
        }
        return path.empty() ? outcome::done : outcome::not_found;
    }

    outcome next_child(const call&, node_handle parent, std::uint64_t& position,
                       node_row& row) override {
        children_.clear();
        const auto known = names();
        if (parent.index == 0) {
            children_ = known;
        } else {
            for (const auto& tag : values_.tags) {
                if (tag.path.starts_with(known[parent.index - 1] + "/")) {
                    children_.push_back(tag.path);
                }
            }
        }
        if (position >= children_.size()) {
            return outcome::end;
        }
        row = {};
        row.path = children_[position];
        row.name = row.path.substr(row.path.rfind('/') + 1);
        row.kind = parent.index == 0 ? node_kind::connection : node_kind::tag;
        row.has_children = parent.index == 0;
        ++position;
        return outcome::done;
    }

  private:
    std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& tag : values_.tags) {
            std::string name = tag.path.substr(0, tag.path.find('/'));
            if (std::find(found.begin(), found.end(), name) == found.end()) {
                found.push_back(std::move(name));
            }
        }
        return found;
    }

    fake_values& values_;
    std::vector<std::string> children_;
};

class fake_connections final : public connections {
  public:
    std::vector<connection_row> rows;

    outcome next(const call&, std::uint64_t& position, connection_row& row) override {
        if (position >= rows.size()) {
            return outcome::end;
        }
        row = rows[position++];
        return outcome::done;
    }
    outcome find(const call&, std::string_view name, connection_row& row) override {
        for (const auto& candidate : rows) {
            if (candidate.name == name) {
                row = candidate;
                return outcome::done;
            }
        }
        return outcome::not_found;
    }
};

class fake_identity final : public identity {
  public:
    bool is_ready = true;
    bool is_healthy = true;
    std::string_view version() const noexcept override { return "1.2.3"; }
    transport::wall_time_ns started() const noexcept override { return 1'700'000'000'000'000'000; }
    bool ready() const noexcept override { return is_ready; }
    std::string_view why_not_ready() const noexcept override { return "OPC UA does not listen."; }
    bool healthy() const noexcept override { return is_healthy; }
    std::optional<principal> authenticate(std::string_view bearer) const noexcept override {
        if (bearer == "viewer-token") {
            return principal{"panel", role::viewer};
        }
        if (bearer == "operator-token") {
            return principal{"shift", role::operator_};
        }
        return std::nullopt;
    }
};

/// Keeps what was submitted until the test runs it.
class fake_execution final : public execution {
  public:
    struct item {
        job* work;
        transport::completion_sink* sink;
        transport::completion_token token;
    };
    std::deque<item> jobs;
    std::deque<item> laters;
    transport::timing_wheel timers{transport::time_point{std::chrono::hours(1)}};
    bool full = false;

    bool submit(job& work, transport::completion_sink& sink,
                transport::completion_token token) override {
        if (full) {
            return false;
        }
        jobs.push_back({&work, &sink, token});
        return true;
    }
    bool later(transport::completion_sink& sink, transport::completion_token token) override {
        laters.push_back({nullptr, &sink, token});
        return true;
    }

    transport::timing_wheel& wheel() noexcept override { return timers; }

    bool run_one(transport::time_point now) {
        auto& queue = jobs.empty() ? laters : jobs;
        if (queue.empty()) {
            return false;
        }
        const item next = queue.front();
        queue.pop_front();
        if (next.work != nullptr) {
            next.work->run();
        }
        next.sink->resume(next.token, 0, now);
        return true;
    }
};

/// Tells what a test marks as changed.
class fake_feed final : public feed {
  public:
    std::vector<bool> watched = std::vector<bool>(4096);
    std::deque<std::uint32_t> changed;
    std::uint64_t changes_of_model = 1;
    std::vector<reason_words> words{{0, "fine", ""}, {7, "no \"cable\"", "plug it in"}};
    transport::completion_sink* sink = nullptr;
    transport::completion_token token;

    bool watch(tag_handle tag) override { return watched.at(tag.index) = true; }
    void unwatch(tag_handle tag) noexcept override { watched[tag.index] = false; }
    void arm(transport::completion_sink& asker, transport::completion_token name) override {
        sink = &asker;
        token = name;
    }
    std::size_t drain(std::span<std::uint32_t> indexes) override {
        std::size_t count = 0;
        for (; count < indexes.size() && !changed.empty(); ++count) {
            indexes[count] = changed.front();
            changed.pop_front();
        }
        return count;
    }
    std::uint32_t index_limit() const noexcept override { return 4096; }
    std::uint64_t revision() const noexcept override { return changes_of_model; }
    std::span<const reason_words> reasons() const noexcept override { return words; }

    /// News as the gateway tells it: of a tag that is watched.
    void mark(std::uint32_t index) {
        if (watched[index]) {
            changed.push_back(index);
        }
    }
    void tell(transport::time_point now) {
        if (sink != nullptr) {
            std::exchange(sink, nullptr)->resume(token, 0, now);
        }
    }
};

/// Takes writes; the test says what comes of them.
class fake_writes final : public writes {
  public:
    struct write_call {
        std::vector<std::string> paths;
        std::vector<std::vector<std::byte>> values;
        std::vector<write_result*> results;
        std::string user;
        std::string reason;
        transport::completion_sink* sink;
        transport::completion_token token;
    };
    outcome answer = outcome::deferred;
    std::vector<write_call> calls;
    std::vector<std::string> refused;
    std::size_t abandoned = 0;
    std::size_t room = 4096;

    static write_result accepted() {
        write_result result;
        result.ending = write_ending::answered;
        result.http_status = 200;
        result.status_name = "Good";
        result.code = "write_accepted";
        result.reason = "the PLC accepted the write";
        return result;
    }

    outcome write(const call& context, std::span<const write_item> items,
                  std::string_view reason) override {
        if (answer == outcome::busy) {
            return answer;
        }
        write_call made{
            {},           {},           {}, std::string(context.who.user), std::string(reason),
            context.sink, context.token};
        for (const write_item& item : items) {
            made.paths.emplace_back(item.path);
            made.values.emplace_back(item.value.bytes.begin(), item.value.bytes.end());
            made.results.push_back(item.result);
            *item.result = accepted();
        }
        calls.push_back(std::move(made));
        return answer;
    }
    void abandon(transport::completion_sink& sink,
                 transport::completion_token token) noexcept override {
        abandoned += std::erase_if(calls, [&](const write_call& each) {
            return each.sink == &sink && each.token == token;
        });
    }
    write_result refuse(const call&, std::string_view path, std::string_view,
                        write_refusal why) override {
        refused.emplace_back(path);
        write_result result;
        result.ending = write_ending::rejected;
        const bool read_only = why == write_refusal::read_only;
        const bool unknown = why == write_refusal::unknown_tag;
        result.http_status = unknown ? 404 : read_only ? 409 : 422;
        result.status = 0x803C0000;
        result.status_name = read_only ? "BadNotWritable" : "BadOutOfRange";
        result.code = unknown                               ? "tag_removed"
                      : read_only                           ? "write_read_only"
                      : why == write_refusal::type_mismatch ? "write_type_mismatch"
                      : why == write_refusal::out_of_range  ? "write_out_of_range"
                                                            : "write_too_long";
        result.reason = "refused";
        result.remedy = "write something else";
        return result;
    }
    std::size_t capacity() const noexcept override { return room; }

    /// Everything that waits is answered.
    void finish(transport::time_point now) {
        for (const write_call& each : std::exchange(calls, {})) {
            each.sink->resume(each.token, 0, now);
        }
    }
};

class fake_request_log final : public request_log {
  public:
    std::vector<std::string> lines;
    bool keeps_lines = true;  ///< allocation gates count what the room does, not this
    void refused(const actor&, const refused_request& what) noexcept override {
        if (!keeps_lines) {
            return;
        }
        lines.push_back(std::to_string(what.status) + " " + std::string(what.method) + " " +
                        std::string(what.path) + " " + std::string(what.code));
    }
    void failed(const actor& who, const refused_request& what) noexcept override {
        refused(who, what);
    }
};

class fake_metrics final : public prometheus::Collectable {
  public:
    std::size_t series = 3;
    std::vector<prometheus::MetricFamily> Collect() const override {
        prometheus::MetricFamily family;
        family.name = "tagferry_fake_total";
        family.help = "For tests.";
        family.type = prometheus::MetricType::Counter;
        for (std::size_t i = 0; i < series; ++i) {
            prometheus::ClientMetric metric;
            metric.label = {{"index", std::to_string(i)}};
            metric.counter.value = static_cast<double>(i);
            family.metric.push_back(std::move(metric));
        }
        return {std::move(family)};
    }
};

class fake_overview final : public overview {
  public:
    overview_row row;
    std::vector<std::string> endpoints{"opc.tcp://192.0.2.1:4840"};

    outcome describe(const call& context, overview_row& to) override {
        to = row;
        to.opcua_endpoints = endpoints;
        return context.who.role == role::none ? outcome::forbidden : outcome::done;
    }
};

struct fake_backend {
    fake_clock clock;
    fake_values values;
    fake_browse browse{values};
    fake_connections connections;
    fake_identity identity;
    fake_overview overview;
    fake_execution execution;
    fake_feed feed;
    fake_writes writes;
    fake_request_log requests;
    fake_metrics metrics;
    std::vector<const prometheus::Collectable*> sources{&metrics};

    backend parts() {
        return {values,    browse, connections, identity, overview,
                execution, feed,   writes,      requests, sources};
    }
};

/// A backend with a few tags, as most tests want it.
inline void add_usual_tags(fake_values& values) {
    values.tags.push_back(
        {.path = "press/tank/level", .type = value_type::float32, .bytes = bytes_of(1.5F)});
    values.tags.push_back(
        {.path = "press/count", .type = value_type::int32, .bytes = bytes_of(std::int32_t{-7})});
    values.tags.push_back({.path = "press/m\xC3\xBC"
                                   "hle",
                           .type = value_type::boolean,
                           .bytes = bytes_of(std::uint8_t{1})});
    values.tags.push_back({.path = "oven/a%2Fb",
                           .type = value_type::string,
                           .bytes = counted_bytes_of("x \"y\" \n")});
    values.tags.push_back({.path = "oven/dead",
                           .type = value_type::none,
                           .bytes = {},
                           .status = bad_no_communication,
                           .status_name = "BadNoCommunication",
                           .reason = "The device does not answer."});
}

}  // namespace tagferry::web::testing
