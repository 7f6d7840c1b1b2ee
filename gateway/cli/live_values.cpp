#include "gateway/cli/live_values.hpp"

#include "gateway/cli/terminal.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace tagferry::gateway::cli {

namespace {

using nlohmann::json;

// An element of an entry, null where the entry is shorter.
const json& element(const json& fields, std::size_t index) {
    static const json none;
    return index < fields.size() ? fields[index] : none;
}

/// What an error of the stream means for the command.
client_fault refusal_of(const json& message) {
    const std::string code = message.value("code", std::string{});
    const std::string subject = message.value("subject", std::string{});
    if (code == "not_found") {
        return {exit_code::bad_data,
                "there is no tag \"" + printable(subject) + "\"; `tagferry read '**'` shows all"};
    }
    std::string words = message.value("detail", std::string{"the stream refused the tags"});
    const std::string hint = message.value("hint", std::string{});
    if (!hint.empty()) {
        words += " " + hint;
    }
    return {code == "forbidden" ? exit_code::no_permission
            : code == "busy"    ? exit_code::temporary
                                : exit_code::bad_data,
            words};
}

}  // namespace

live_values::live_values(gateway_client& client, live_options options, taker take)
    : client_(client), options_(std::move(options)), take_(std::move(take)) {}

void live_values::open() {
    client_.open_stream();
    subscribe();
}

void live_values::subscribe() {
    if (id_ != 0) {
        client_.send(json({{"op", "unsubscribe"}, {"id", id_}}).dump());
    }
    ++id_;
    next_sequence_ = 1;
    tags_.clear();
    client_.send(json({{"op", "subscribe"},
                       {"id", id_},
                       {"tags", options_.tags},
                       {"min_interval_ms", options_.min_interval_ms}})
                     .dump());
}

live_event live_values::next(std::chrono::milliseconds longest) {
    std::string text;
    switch (client_.wait(longest, text)) {
        case gateway_client::waited::message:
            return handle(json::parse(text));
        case gateway_client::waited::time_passed:
            return live_event::time_passed;
        case gateway_client::waited::interrupted:
            return live_event::interrupted;
        case gateway_client::waited::closed:
            break;
    }
    id_ = 0;
    return live_event::lost;
}

live_event live_values::handle(const json& message) {
    const std::string op = message.at("op").get<std::string>();
    if (op == "reasons") {
        for (const json& each : message.at("reasons")) {
            reasons_[each.at(0).get<std::int64_t>()] = {each.at(1).get<std::string>(),
                                                        each.at(2).get<std::string>()};
        }
        return live_event::handled;
    }
    if (message.value("id", std::int64_t{0}) != id_) {
        return live_event::handled;  // of a subscription given up
    }
    if (op == "error") {
        throw refusal_of(message);
    }
    if (op == "subscribed") {
        begin(message);
        const bool none = tags_.empty() && !message.value("more", false);
        return none ? live_event::no_tags : live_event::handled;
    }
    if (op == "changed") {
        subscribe();
    } else if (op == "snapshot" || op == "delta") {
        values(message);
    }
    return live_event::handled;
}

void live_values::begin(const json& message) {
    for (const json& each : message.at("tags")) {
        const auto index = each.at(0).get<std::size_t>();
        // Dense from 0: anything else is no answer of a gateway, and its tag would be another's.
        if (index != tags_.size()) {
            throw client_fault(exit_code::unavailable, "the stream numbers its tags wrongly");
        }
        const json& unit = element(each, 3);
        tags_.push_back({each.at(1).get<std::string>(), each.at(2).get<std::string>(),
                         unit.is_string() ? unit.get<std::string>() : ""});
    }
}

void live_values::values(const json& message) {
    const auto sequence = message.at("seq").get<std::int64_t>();
    if (sequence != next_sequence_) {
        subscribe();
        return;
    }
    ++next_sequence_;
    for (const json& each : message.at("values")) {
        entry(each);
    }
}

void live_values::entry(const json& fields) {
    const tag& which = tags_.at(fields.at(0).get<std::size_t>());
    const json& status = element(fields, 2);
    const json& timestamp = element(fields, 3);
    const json& reason_id = element(fields, 4);
    const std::string words = status.is_string() ? status.get<std::string>() : "Good";
    live_value made{which.path, which.type, which.unit, fields.at(1), words};
    made.source_timestamp_ms = timestamp.is_number() ? timestamp.get<std::int64_t>() : 0;
    // As over REST, a value that needs no reason has none.
    const auto why =
        reason_id.is_number() ? reasons_.find(reason_id.get<std::int64_t>()) : reasons_.end();
    if (why != reasons_.end()) {
        made.reason = why->second.words;
    }
    take_(made);
}

}  // namespace tagferry::gateway::cli
