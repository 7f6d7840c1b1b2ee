#include "gateway/simulation/plc_file.hpp"

#include "gateway/config/located_tree.hpp"
#include "gateway/config/suggestion.hpp"
#include "gateway/simulation/fault_text.hpp"
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
constexpr std::int64_t max_tag_number = 0xFFFF'FFFF;

/// Walks the tree and says what does not fit, where it stands.
class plc_reader {
  public:
    plc_reader(const config::located_tree& tree, config::diagnostics& found)
        : tree_(tree), found_(found) {}

    simulated_plc_file read();

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
    bool boolean(const node& value);
    transport::duration time(const node& value, std::int64_t least, std::int64_t most);
    void fault(const node& value, std::vector<s7::scripted_fault>& into);
    bool fault_member(const node& value, s7::scripted_fault& made);
    const s7::fault_description* fault_name(const node& object);
    bool plc_member(const node& value, s7::simulator_config& made);
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
    static constexpr std::array<std::pair<std::string_view, s7::signal_kind>, 7> kinds = {{
        {"constant", s7::signal_kind::constant},
        {"ramp", s7::signal_kind::ramp},
        {"sine", s7::signal_kind::sine},
        {"counter", s7::signal_kind::counter},
        {"toggle", s7::signal_kind::toggle},
        {"text", s7::signal_kind::text},
        {"tagged", s7::signal_kind::tagged},
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
        made.period = time(value, 1, max_period_ms);
    } else if (value.key == "number") {
        made.number = static_cast<std::uint32_t>(integer(value, 0, max_tag_number));
    } else if (is(value, node_kind::text, "a text")) {
        made.text = value.text;
    }
}

void plc_reader::signal(const node& value, s7::simulator_config& into) {
    static constexpr std::array<std::string_view, 8> known = {
        "address", "type", "kind", "minimum", "maximum", "period_ms", "text", "number"};
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

bool plc_reader::boolean(const node& value) {
    return is(value, node_kind::boolean, "true or false") && value.boolean;
}

transport::duration plc_reader::time(const node& value, std::int64_t least, std::int64_t most) {
    return std::chrono::milliseconds(integer(value, least, most));
}

/// The fault an object names; null with a finding when it names none.
const s7::fault_description* plc_reader::fault_name(const node& object) {
    for (const node* at = tree_.child(object); at != nullptr; at = tree_.next(*at)) {
        if (at->key != "fault" || !is(*at, node_kind::text, "the name of a fault")) {
            continue;
        }
        const s7::fault_description* const known = s7::find_fault(at->text);
        if (known == nullptr) {
            std::vector<std::string_view> names;
            for (const s7::fault_description& each : s7::fault_catalogue()) {
                names.push_back(each.name);
            }
            found_.error(tree_.at(*at), "there is no fault \"" + std::string(at->text) + "\"",
                         config::suggestion(at->text, names));
        }
        return known;
    }
    if (!object.incomplete) {
        found_.error(tree_.at(object), "a fault needs its name, \"fault\"");
    }
    return nullptr;
}

bool plc_reader::fault_member(const node& value, s7::scripted_fault& made) {
    constexpr std::int64_t most = 0xFFFF'FFFF;
    constexpr std::int64_t two_bytes = 0xFFFF;
    if (value.key == "start_ms") {
        made.start = time(value, 0, max_period_ms);
    } else if (value.key == "length_ms") {
        made.length = time(value, 0, max_period_ms);
    } else if (value.key == "period_ms") {
        made.period = time(value, 0, max_period_ms);
    } else if (value.key == "delay_ms") {
        made.delay = time(value, 0, max_latency_ms);
    } else if (value.key == "every") {
        made.every = static_cast<std::uint32_t>(integer(value, 1, most));
    } else if (value.key == "code") {
        made.code = static_cast<std::uint16_t>(integer(value, 0, two_bytes));
    } else if (value.key == "block") {
        made.block = static_cast<std::uint16_t>(integer(value, 0, two_bytes));
    } else {
        return value.key == "fault";
    }
    return true;
}

void plc_reader::fault(const node& value, std::vector<s7::scripted_fault>& into) {
    static constexpr std::array<std::string_view, 8> known = {
        "fault", "start_ms", "length_ms", "period_ms", "delay_ms", "every", "code", "block"};
    if (!is(value, node_kind::object, "an object")) {
        return;
    }
    const s7::fault_description* const named = fault_name(value);
    s7::scripted_fault made = named != nullptr ? named->usual : s7::scripted_fault{};
    members(value, known, [&](const node& member) { return fault_member(member, made); });
    const std::string wrong = named != nullptr ? check_fault(made) : std::string();
    if (!wrong.empty()) {
        found_.error(tree_.at(value), wrong);
    }
    into.push_back(made);
}

bool plc_reader::plc_member(const node& value, s7::simulator_config& made) {
    constexpr std::int64_t most_area = 65'536;
    if (value.key == "profile") {
        profile(value, made);
    } else if (value.key == "pdu_size") {
        made.pdu_size = static_cast<std::uint16_t>(integer(value, 112, 2'048));
    } else if (value.key == "jobs") {
        made.calling_jobs = static_cast<std::uint16_t>(integer(value, 1, 64));
    } else if (value.key == "tpdu_size") {
        made.tpdu_size = static_cast<std::size_t>(integer(value, 128, 2'048));
    } else if (value.key == "latency_ms") {
        made.latency = time(value, 0, max_latency_ms);
    } else if (value.key == "serial") {
        made.serial = boolean(value);
    } else if (value.key == "max_connections") {
        made.max_connections = static_cast<std::size_t>(integer(value, 1, 1'024));
    } else if (value.key == "input_bytes") {
        made.input_bytes = static_cast<std::uint32_t>(integer(value, 1, most_area));
    } else if (value.key == "output_bytes") {
        made.output_bytes = static_cast<std::uint32_t>(integer(value, 1, most_area));
    } else if (value.key == "memory_bytes") {
        made.memory_bytes = static_cast<std::uint32_t>(integer(value, 1, most_area));
    } else {
        return false;
    }
    return true;
}

simulated_plc_file plc_reader::read() {
    static constexpr std::array<std::string_view, 13> known = {
        "profile",     "pdu_size",        "jobs",        "tpdu_size",    "latency_ms",
        "serial",      "max_connections", "input_bytes", "output_bytes", "memory_bytes",
        "data_blocks", "signals",         "faults"};
    simulated_plc_file made;
    const node* const root = tree_.root();
    if (root == nullptr) {
        return made;
    }
    members(*root, known, [&](const node& member) {
        if (member.key == "data_blocks") {
            elements(member, [&](const node& each) { data_block(each, made.plc); });
        } else if (member.key == "signals") {
            elements(member, [&](const node& each) { signal(each, made.plc); });
        } else if (member.key == "faults") {
            elements(member, [&](const node& each) { fault(each, made.faults); });
        } else {
            return plc_member(member, made.plc);
        }
        return true;
    });
    return made;
}

}  // namespace

simulated_plc_file parse_plc_file(std::string text, std::string_view name,
                                  config::diagnostics& found) {
    const std::uint32_t source = found.add_source(name);
    const auto tree = config::located_tree::read(std::move(text), source, found);
    simulated_plc_file made = plc_reader(tree, found).read();
    found.sort();
    return made;
}

}  // namespace tagferry::gateway
