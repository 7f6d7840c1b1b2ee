#include "gateway/simulation/plc_file.hpp"

#include "gateway/config/located_tree.hpp"
#include "gateway/config/suggestion.hpp"
#include "protocols/s7/simulator/profile.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

namespace tagferry::gateway {

namespace {

using config::node;
using config::node_kind;

constexpr std::int64_t max_period_ms = 24 * 3'600'000;
constexpr std::int64_t max_latency_ms = 60'000;

/// Walks the tree and says what does not fit, where it stands.
class plc_reader {
  public:
    plc_reader(const config::located_tree& tree, config::diagnostics& found)
        : tree_(tree), found_(found) {}

    s7::simulator_config read();

  private:
    using key_list = std::span<const std::string_view>;

    bool is(const node& value, node_kind kind, std::string_view expected);
    void unknown_key(const node& value, key_list known);
    std::int64_t integer(const node& value, std::int64_t least, std::int64_t most);
    double number(const node& value);
    /// Calls `each(member)` for every member; false from it: an unknown key.
    template <class Each>
    void members(const node& object, key_list known, Each&& each);
    template <class Each>
    void elements(const node& list, Each&& each);
    void profile(const node& value, s7::simulator_config& into);
    void data_block(const node& value, s7::simulator_config& into);
    void signal(const node& value, s7::simulator_config& into);
    void signal_member(const node& value, s7::signal_config& made);
    void kind(const node& value, s7::signal_config& made);
    void syntax(const node& value, const s7::parse_error& error);

    const config::located_tree& tree_;
    config::diagnostics& found_;
};

bool plc_reader::is(const node& value, node_kind kind, std::string_view expected) {
    if (value.kind == kind) {
        return true;
    }
    if (value.kind != node_kind::unusable) {
        found_.error(tree_.at(value), "expected " + std::string(expected));
    }
    return false;
}

void plc_reader::unknown_key(const node& value, key_list known) {
    if (!value.key_unusable) {
        found_.error(tree_.key_at(value), "unknown key \"" + std::string(value.key) + "\"",
                     config::suggestion(value.key, known));
    }
}

std::int64_t plc_reader::integer(const node& value, std::int64_t least, std::int64_t most) {
    if (!is(value, node_kind::integer, "a whole number")) {
        return least;
    }
    if (value.integer < least || value.integer > most) {
        found_.error(tree_.at(value), std::string(value.text) + " is out of range",
                     std::to_string(least) + " to " + std::to_string(most));
        return least;
    }
    return value.integer;
}

double plc_reader::number(const node& value) {
    if (value.kind != node_kind::integer && !is(value, node_kind::real, "a number")) {
        return 0;
    }
    return std::strtod(std::string(value.text).c_str(), nullptr);
}

template <class Each>
void plc_reader::members(const node& object, key_list known, Each&& each) {
    if (!is(object, node_kind::object, "an object")) {
        return;
    }
    for (const node* at = tree_.child(object); at != nullptr; at = tree_.next(*at)) {
        if (!each(*at)) {
            unknown_key(*at, known);
        }
    }
}

template <class Each>
void plc_reader::elements(const node& list, Each&& each) {
    if (!is(list, node_kind::array, "a list")) {
        return;
    }
    for (const node* at = tree_.child(list); at != nullptr; at = tree_.next(*at)) {
        each(*at);
    }
}

void plc_reader::profile(const node& value, s7::simulator_config& into) {
    if (!is(value, node_kind::text, "the name of a profile")) {
        return;
    }
    into.profile = value.text;
    if (s7::find_plc_profile(into.profile) == nullptr) {
        std::vector<std::string_view> names;
        for (const s7::plc_profile& each : s7::plc_profiles()) {
            names.push_back(each.name);
        }
        found_.error(tree_.at(value), "there is no profile \"" + into.profile + "\"",
                     config::suggestion(into.profile, names));
    }
}

void plc_reader::data_block(const node& value, s7::simulator_config& into) {
    static constexpr std::array<std::string_view, 2> known = {"number", "size"};
    s7::data_block_config block;
    members(value, known, [&](const node& member) {
        if (member.key == "number") {
            block.number = static_cast<std::uint16_t>(integer(member, 1, 65'535));
        } else if (member.key == "size") {
            block.size = static_cast<std::uint32_t>(integer(member, 1, 65'536));
        } else {
            return false;
        }
        return true;
    });
    if (block.size == 0 && value.kind == node_kind::object) {
        found_.error(tree_.at(value), "a data block needs its \"size\" in bytes");
    }
    into.data_blocks.push_back(block);
}

void plc_reader::syntax(const node& value, const s7::parse_error& error) {
    if (error) {
        found_.error(tree_.inside(value, error.column - 1), "expected " + std::string(error.text),
                     std::string(error.hint));
    }
}

void plc_reader::kind(const node& value, s7::signal_config& made) {
    static constexpr std::array<std::pair<std::string_view, s7::signal_kind>, 6> kinds = {{
        {"constant", s7::signal_kind::constant},
        {"ramp", s7::signal_kind::ramp},
        {"sine", s7::signal_kind::sine},
        {"counter", s7::signal_kind::counter},
        {"toggle", s7::signal_kind::toggle},
        {"text", s7::signal_kind::text},
    }};
    if (!is(value, node_kind::text, "the kind of a signal")) {
        return;
    }
    std::vector<std::string_view> names;
    for (const auto& [name, kind] : kinds) {
        if (value.text == name) {
            made.kind = kind;
            return;
        }
        names.push_back(name);
    }
    found_.error(tree_.at(value), "there is no signal \"" + std::string(value.text) + "\"",
                 config::suggestion(value.text, names));
}

void plc_reader::signal_member(const node& value, s7::signal_config& made) {
    if (value.key == "address") {
        if (is(value, node_kind::text, "an address")) {
            syntax(value, s7::parse_address(value.text, made.where));
        }
    } else if (value.key == "type") {
        if (is(value, node_kind::text, "a type")) {
            syntax(value, s7::parse_data_type(value.text, made.type));
        }
    } else if (value.key == "kind") {
        kind(value, made);
    } else if (value.key == "minimum") {
        made.minimum = number(value);
    } else if (value.key == "maximum") {
        made.maximum = number(value);
    } else if (value.key == "period_ms") {
        made.period = std::chrono::milliseconds(integer(value, 1, max_period_ms));
    } else if (is(value, node_kind::text, "a text")) {
        made.text = value.text;
    }
}

void plc_reader::signal(const node& value, s7::simulator_config& into) {
    static constexpr std::array<std::string_view, 7> known = {
        "address", "type", "kind", "minimum", "maximum", "period_ms", "text"};
    s7::signal_config made;
    bool has_address = false;
    bool has_type = false;
    members(value, known, [&](const node& member) {
        for (const std::string_view key : known) {
            if (member.key == key) {
                has_address = has_address || key == "address";
                has_type = has_type || key == "type";
                signal_member(member, made);
                return true;
            }
        }
        return false;
    });
    if (value.kind == node_kind::object && !value.incomplete && !(has_address && has_type)) {
        found_.error(tree_.at(value), "a signal needs \"address\" and \"type\"");
    }
    into.signals.push_back(made);
}

s7::simulator_config plc_reader::read() {
    static constexpr std::array<std::string_view, 5> known = {"profile", "pdu_size", "latency_ms",
                                                              "data_blocks", "signals"};
    s7::simulator_config made;
    const node* const root = tree_.root();
    if (root == nullptr) {
        return made;
    }
    members(*root, known, [&](const node& member) {
        if (member.key == "profile") {
            profile(member, made);
        } else if (member.key == "pdu_size") {
            made.pdu_size = static_cast<std::uint16_t>(integer(member, 112, 2'048));
        } else if (member.key == "latency_ms") {
            made.latency = std::chrono::milliseconds(integer(member, 0, max_latency_ms));
        } else if (member.key == "data_blocks") {
            elements(member, [&](const node& each) { data_block(each, made); });
        } else if (member.key == "signals") {
            elements(member, [&](const node& each) { signal(each, made); });
        } else {
            return false;
        }
        return true;
    });
    return made;
}

}  // namespace

s7::simulator_config parse_plc_file(std::string text, std::string_view name,
                                    config::diagnostics& found) {
    const std::uint32_t source = found.add_source(name);
    const auto tree = config::located_tree::read(std::move(text), source, found);
    s7::simulator_config made = plc_reader(tree, found).read();
    found.sort();
    return made;
}

}  // namespace tagferry::gateway
