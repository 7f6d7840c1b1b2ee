#include "web/live/stream_writer.hpp"

#include "web/api/value_json.hpp"
#include "web/http/json_writer.hpp"
#include "web/http/operations.hpp"

namespace tagferry::web {
namespace {

/// From this size on a message is not added to.
constexpr std::size_t enough = 8 * 1024;
/// An entry that is larger by itself is sent without its value.
constexpr std::size_t largest_entry = frame_writer::largest_payload - enough - 256;
/// For what ends a message.
constexpr std::size_t tail_size = 64;

constexpr std::uint32_t bad_node_id_unknown = 0x80340000;
constexpr std::uint32_t bad_encoding_limits_exceeded = 0x80080000;
constexpr transport::wall_time_ns ns_per_ms = 1'000'000;

}  // namespace

void stream_writer::note_shortage() noexcept {
    waits_for_pool_ = out_.short_of() == output_chain::shortage::pool;
    out_.forget_shortage();
}

bool stream_writer::open(frame_writer& frame) noexcept {
    if (!frame.begin()) {
        note_shortage();
        return false;
    }
    return true;
}

bool stream_writer::finish(frame_writer& frame) noexcept {
    if (!out_.ok()) {
        note_shortage();
        frame.cancel();
        return false;
    }
    frame.end();
    return true;
}

void stream_writer::count(std::size_t values) noexcept {
    stream_counters::add(hub_.counters().messages, 1);
    stream_counters::add(hub_.counters().updates, values);
}

bool stream_writer::put_reasons() noexcept {
    frame_writer frame(out_);
    if (!open(frame)) {
        return false;
    }
    out_.put(R"({"op":"reasons","reasons":[)");
    bool first = true;
    for (const reason_words& reason : hub_.feed().reasons()) {
        out_.put(first ? "[" : ",[");
        first = false;
        put_json_number(out_, reason.id);
        out_.put(',');
        put_json_string(out_, reason.words);
        out_.put(',');
        put_json_string(out_, reason.remedy);
        out_.put(']');
    }
    out_.put("]}");
    return finish(frame);
}

bool stream_writer::put_error(const stream_error& error) noexcept {
    frame_writer frame(out_);
    if (!open(frame)) {
        return false;
    }
    out_.put(R"({"op":"error","id":)");
    put_json_number(out_, error.id);
    out_.put(R"(,"code":")");
    out_.put(error.code);
    out_.put(R"(","detail":)");
    put_json_string(out_, error.detail);
    if (!error.subject.empty()) {
        out_.put(R"(,"subject":)");
        put_json_string(out_, error.subject);
    }
    if (!error.hint.empty()) {
        out_.put(R"(,"hint":)");
        put_json_string(out_, error.hint);
    }
    out_.put('}');
    return finish(frame);
}

bool stream_writer::put_notice(std::string_view word, std::uint32_t id) noexcept {
    frame_writer frame(out_);
    if (!open(frame)) {
        return false;
    }
    out_.put(R"({"op":")");
    out_.put(word);
    out_.put(R"(","id":)");
    put_json_number(out_, id);
    out_.put('}');
    return finish(frame);
}

bool stream_writer::put_next(subscription& of, std::size_t& budget) noexcept {
    switch (of.state_) {
        case subscription::state::describing:
            return put_tags(of, budget);
        case subscription::state::snapshot:
            return put_snapshot(of, budget);
        case subscription::state::live:
            return put_delta(of, budget);
        case subscription::state::finding:
        case subscription::state::retired:
            break;
    }
    of.ready_ = false;
    return true;
}

bool stream_writer::begin(frame_writer& frame, std::string_view word,
                          const subscription& of) noexcept {
    if (!open(frame)) {
        return false;
    }
    out_.put(R"({"op":")");
    out_.put(word);
    out_.put(R"(","id":)");
    put_json_number(out_, of.id_);
    return true;
}

/// After an entry: whether it, and what ends the message, fitted. Otherwise it is taken back,
/// and the message with it when it was the first.
bool stream_writer::has_room_for(frame_writer& frame, output_chain::mark before,
                                 bool first) noexcept {
    if (out_.ok() && out_.open(tail_size)) {
        return true;
    }
    if (first) {
        static_cast<void>(finish(frame));
    } else {
        out_.rollback(before);
    }
    return false;
}

void stream_writer::put_tag(const stream_entry& entry) noexcept {
    tag_row tag;
    if (hub_.values().describe(context_, entry.tag, tag) != outcome::done) {
        tag = {};
    }
    out_.put('[');
    put_json_number(out_, entry.number);
    out_.put(',');
    put_json_string(out_, tag.path);
    out_.put(',');
    put_json_string(out_, tag.type);
    out_.put(',');
    put_json_string_or_null(out_, tag.unit);
    out_.put(']');
}

bool stream_writer::put_tags(subscription& of, std::size_t& budget) noexcept {
    frame_writer frame(out_);
    if (!begin(frame, "subscribed", of)) {
        return false;
    }
    out_.put(R"(,"tags":[)");
    entry_id at = of.cursor_;
    bool first = true;
    while (at != 0 && budget != 0 && frame.size() < enough) {
        const output_chain::mark before = out_.position();
        if (!first) {
            out_.put(',');
        }
        put_tag(hub_.entries().at(at));
        if (!has_room_for(frame, before, first)) {
            if (first) {
                return false;
            }
            break;
        }
        first = false;
        --budget;
        at = hub_.entries().at(at).next_of_owner;
    }
    out_.put(at != 0 ? R"(],"more":true})" : R"(],"more":false})");
    if (!finish(frame)) {
        return false;
    }
    of.cursor_ = at;
    if (at == 0) {
        of.state_ = subscription::state::snapshot;
        of.cursor_ = of.first_;
    }
    return true;
}

void stream_writer::put_value(const stream_entry& entry, bool with_value) noexcept {
    value_row row;
    const outcome read = hub_.values().read(context_, entry.tag, hub_.scratch(), row);
    if (read != outcome::done) {
        row = {};
        row.status = bad_node_id_unknown;
        row.status_name = "BadNodeIdUnknown";
    }
    if (!with_value) {
        row.value = {};
        row.status = bad_encoding_limits_exceeded;
        row.status_name = "BadEncodingLimitsExceeded";
        row.reason_id = 0;
    }
    out_.put('[');
    put_json_number(out_, entry.number);
    out_.put(',');
    put_json_value(out_, is_bad(row.status) ? value_view{} : row.value);
    const bool timed = row.source_timestamp != 0;
    if (row.status != 0 || timed || row.reason_id != 0) {
        if (row.status == 0) {
            out_.put(",0");
        } else {
            out_.put(",\"");
            out_.put(row.status_name);
            out_.put('"');
        }
    }
    if (timed) {
        out_.put(',');
        put_json_number(out_, row.source_timestamp / ns_per_ms);
    } else if (row.reason_id != 0) {
        out_.put(",null");
    }
    if (row.reason_id != 0) {
        out_.put(',');
        put_json_number(out_, row.reason_id);
    }
    out_.put(']');
}

/// One entry with what is before it. False: it did not fit any more and is taken back.
bool stream_writer::put_values_of(const stream_entry& entry, frame_writer& frame,
                                  bool first) noexcept {
    const output_chain::mark before = out_.position();
    if (!first) {
        out_.put(',');
    }
    const output_chain::mark at = out_.position();
    put_value(entry, true);
    if (out_.ok() && out_.size_since(at) > largest_entry) {
        out_.rollback(at);
        put_value(entry, false);
    }
    return has_room_for(frame, before, first);
}

bool stream_writer::put_snapshot(subscription& of, std::size_t& budget) noexcept {
    frame_writer frame(out_);
    if (!begin(frame, "snapshot", of)) {
        return false;
    }
    out_.put(R"(,"seq":)");
    put_json_number(out_, of.sequence_ + 1);
    out_.put(R"(,"values":[)");
    entry_id at = of.cursor_;
    std::size_t written = 0;
    while (at != 0 && written < budget && frame.size() < enough) {
        stream_entry& entry = hub_.entries().at(at);
        if (!put_values_of(entry, frame, written == 0)) {
            if (written == 0) {
                return false;
            }
            break;
        }
        entry.changed = false;
        ++written;
        at = entry.next_of_owner;
    }
    out_.put(at != 0 ? R"(],"more":true})" : R"(],"more":false})");
    if (!finish(frame)) {
        return false;
    }
    budget -= written;
    ++of.sequence_;
    of.cursor_ = at;
    count(written);
    if (at == 0) {
        of.state_ = subscription::state::live;
        of.ready_ = false;
        of.last_delta_ = context_.now;
        // What was overtaken while the client was told for the first time was never promised.
        of.conflated_ = 0;
    }
    return true;
}

bool stream_writer::put_delta(subscription& of, std::size_t& budget) noexcept {
    frame_writer frame(out_);
    std::size_t written = 0;
    bool whole = true;
    while (of.first_changed_ != 0) {
        stream_entry& entry = hub_.entries().at(of.first_changed_);
        if (entry.changed) {
            if (written == budget || (written != 0 && frame.size() >= enough)) {
                break;
            }
            if (written == 0) {
                if (!begin(frame, "delta", of)) {
                    return false;
                }
                out_.put(R"(,"seq":)");
                put_json_number(out_, of.sequence_ + 1);
                out_.put(R"(,"values":[)");
            }
            if (!put_values_of(entry, frame, written == 0)) {
                whole = false;
                break;
            }
            ++written;
        }
        entry.changed = false;
        entry.queued = false;
        of.first_changed_ = entry.next_changed;
    }
    if (of.first_changed_ == 0) {
        of.last_changed_ = 0;
        of.ready_ = false;
    }
    if (written == 0) {
        return whole;
    }
    out_.put(']');
    if (of.conflated_ != 0) {
        out_.put(R"(,"conflated":)");
        put_json_number(out_, of.conflated_);
    }
    out_.put('}');
    frame.end();
    budget -= written;
    ++of.sequence_;
    of.conflated_ = 0;
    of.last_delta_ = context_.now;
    count(written);
    transport::count_operation(ws_push, hub_.clock().now() - of.first_change_);
    return true;
}

}  // namespace tagferry::web
