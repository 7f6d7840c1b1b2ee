#include "gateway/config/checks.hpp"

#include "gateway/config/suggestion.hpp"
#include "gateway/model/tag_path.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tagferry::gateway::config {

namespace {

// The place `bytes` bytes into a text that begins at `start`.
location inside(location start, std::string_view text, std::size_t bytes) {
    for (std::size_t index = 0; index < std::min(bytes, text.size()); ++index) {
        const bool continues = (static_cast<unsigned char>(text[index]) & 0xC0U) == 0x80U;
        start.column += continues || start.line == 0 ? 0U : 1U;
    }
    return start;
}

class checker {
  public:
    checker(const configuration& value, const address_checker& addresses, diagnostics& found)
        : value_(value), addresses_(addresses), found_(found) {}

    void run() {
        listeners();
        timeouts();
        web_sizes();
        connection_names();
        totals();
        for (const connection& link : value_.connections) {
            connection_values(link);
            scan_classes(link);
            tags(link);
        }
        clients();
    }

  private:
    std::string line_of(location where) const {
        if (where.line == 0) {
            return std::string{found_.source_name(where.source)};
        }
        return std::string{found_.source_name(where.source)} + ":" + std::to_string(where.line);
    }

    // Said of a configuration that would serve: beside errors it would only be in the way.
    void clients() {
        if (found_.ok() && !value_.opcua.allow_none_policy) {
            found_.warning(value_.opcua.allow_none_policy_at,
                           "no OPC UA client can connect while \"allow_none_policy\" is false",
                           "this version has no encryption yet: set opcua.allow_none_policy to "
                           "true");
        }
    }

    void listeners() {
        std::vector<const listen_address*> taken;
        for (const auto* list : {&value_.opcua.listen, &value_.web.listen}) {
            for (const listen_address& address : *list) {
                const auto same = std::find_if(taken.begin(), taken.end(), [&](const auto* other) {
                    return other->port == address.port && other->host == address.host;
                });
                if (address.port != 0 && same != taken.end()) {
                    found_.error(address.at,
                                 "port " + std::to_string(address.port) + " of " + address.host +
                                     " is taken twice",
                                 "OPC UA and web need ports of their own");
                }
                taken.push_back(&address);
            }
        }
    }

    void timeouts() {
        const auto& limits = value_.opcua.limits;
        const location at = value_.opcua.listen_at;
        if (limits.min_token_lifetime_ms > limits.max_token_lifetime_ms) {
            found_.error(at, "opcua.limits: min_token_lifetime_ms is above max_token_lifetime_ms");
        }
        if (limits.min_session_timeout_ms > limits.max_session_timeout_ms) {
            found_.error(at,
                         "opcua.limits: min_session_timeout_ms is above max_session_timeout_ms");
        }
        if (limits.chunk_size > limits.max_request_size) {
            found_.error(at, "opcua.limits: chunk_size is above max_request_size");
        }
    }

    void web_sizes() {
        const auto& limits = value_.web.limits;
        const location at = value_.web.listen_at;
        if (limits.target_size >= limits.head_size) {
            found_.error(at, "web.limits: target_size is not below head_size");
        }
        if (limits.output_high_water_slots >= limits.connection_output_slots) {
            found_.error(at,
                         "web.limits: output_high_water_slots is not below "
                         "connection_output_slots");
        }
        if (limits.connection_output_slots > limits.output_slots) {
            found_.error(at, "web.limits: connection_output_slots is above output_slots");
        }
        if (limits.list_limit_default > limits.list_limit_max) {
            found_.error(at, "web.limits: list_limit_default is above list_limit_max");
        }
    }

    void connection_names() {
        std::unordered_map<std::string_view, location> seen;
        for (const connection& link : value_.connections) {
            if (link.name.empty()) {
                continue;
            }
            const auto [first, is_new] = seen.try_emplace(link.name, link.name_at);
            if (!is_new) {
                found_.error(link.name_at,
                             "the connection name " + quoted(link.name) + " is given twice",
                             "first in " + line_of(first->second));
            }
            const auto names = parse_path(link.name);
            if (!names || names->size() != 1) {
                found_.error(link.name_at, quoted(link.name) + " cannot be a connection's name",
                             "a name has no '/', and '%' only in escapes such as %25");
            }
        }
    }

    void totals() {
        std::size_t tags = 0;
        for (const connection& link : value_.connections) {
            tags += link.tags.size();
            if (link.tags.size() > value_.limits.tags_per_connection) {
                found_.error(
                    link.at,
                    quoted(link.name) + " has " + std::to_string(link.tags.size()) + " tags",
                    "limits.tags_per_connection is " +
                        std::to_string(value_.limits.tags_per_connection));
            }
        }
        if (tags > value_.limits.tags) {
            found_.error({}, std::to_string(tags) + " tags in all",
                         "limits.tags is " + std::to_string(value_.limits.tags));
        }
        if (value_.connections.size() > value_.limits.connections) {
            found_.error(value_.connections[value_.limits.connections].at,
                         std::to_string(value_.connections.size()) + " connections",
                         "limits.connections is " + std::to_string(value_.limits.connections));
        }
    }

    void connection_values(const connection& link) {
        if (link.host.find_first_of(" /@") != std::string::npos) {
            found_.error(link.host_at, quoted(link.host) + " is no host",
                         "a DNS name or a numeric address, nothing else");
        } else if (std::count(link.host.begin(), link.host.end(), ':') == 1) {
            found_.error(inside(link.host_at, link.host, link.host.find(':')),
                         "the host holds a port", "write it into \"port\"");
        }
        if (link.back_off_ms.min_ms > link.back_off_ms.max_ms) {
            found_.error(link.back_off_ms.at, "\"min\" is above \"max\"");
        }
    }

    void scan_classes(const connection& link) {
        for (std::size_t index = 0; index < link.scan_classes.size(); ++index) {
            const scan_class& now = link.scan_classes[index];
            const auto end = link.scan_classes.begin() + static_cast<std::ptrdiff_t>(index);
            const bool again = std::any_of(link.scan_classes.begin(), end, [&](const auto& other) {
                return other.name == now.name;
            });
            if (again && !now.name.empty()) {
                found_.error(now.name_at, "the scan class " + quoted(now.name) + " is given twice");
            }
        }
    }

    void tags(const connection& link) {
        std::vector<std::string_view> classes;
        for (const scan_class& known : link.scan_classes) {
            classes.push_back(known.name);
        }
        std::unordered_map<std::string_view, const tag*> by_path;
        by_path.reserve(link.tags.size());
        for (const tag& member : link.tags) {
            tag_path(link, member, by_path);
            tag_scan_class(member, classes);
            tag_type(member);
        }
        for (const tag& member : link.tags) {
            tag_groups(member, by_path);
        }
    }

    void tag_path(const connection& link, const tag& member,
                  std::unordered_map<std::string_view, const tag*>& by_path) {
        if (member.path.empty()) {
            return;
        }
        if (!parse_path(member.path)) {
            const auto canonical = canonical_path(member.path);
            found_.error(member.path_at, quoted(member.path) + " is no path",
                         canonical ? "write " + quoted(*canonical)
                                   : "names separated by '/', none of them empty, \".\" or \"..\"");
            return;
        }
        if (link.name.size() + 1 + member.path.size() > max_path_size) {
            found_.error(
                member.path_at, "the path is too long",
                "at most " + std::to_string(max_path_size) + " bytes with the connection's name");
        }
        const auto [first, is_new] = by_path.try_emplace(member.path, &member);
        if (!is_new) {
            found_.error(member.path_at, "the path " + quoted(member.path) + " is given twice",
                         "first in " + line_of(first->second->path_at));
        }
    }

    void tag_groups(const tag& member,
                    const std::unordered_map<std::string_view, const tag*>& by_path) {
        const std::string_view path = member.path;
        for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
             slash = path.find('/', slash + 1)) {
            const auto taken = by_path.find(path.substr(0, slash));
            if (taken != by_path.end()) {
                found_.error(member.path_at,
                             quoted(path.substr(0, slash)) + " is a tag and cannot be a group too",
                             "the tag is in " + line_of(taken->second->path_at));
                return;
            }
        }
    }

    void tag_scan_class(const tag& member, const std::vector<std::string_view>& classes) {
        const std::string_view name = member.scan_class_name;
        if (!name.empty() && std::find(classes.begin(), classes.end(), name) == classes.end()) {
            found_.error(member.scan_class_at, "unknown scan class " + quoted(name),
                         suggestion(name, classes));
        }
    }

    void tag_type(const tag& member) {
        if (member.type.empty()) {
            return;
        }
        if (const auto fault = addresses_.check_type(member.type)) {
            found_.error(inside(member.type_at, member.type, fault->column), fault->text,
                         fault->hint);
            return;
        }
        const std::size_t bytes = addresses_.value_bytes(member.type);
        if (bytes > value_.limits.value_bytes) {
            found_.error(member.type_at,
                         "a value of " + std::to_string(bytes) + " bytes is too large",
                         "limits.value_bytes is " + std::to_string(value_.limits.value_bytes));
        }
        if (member.address.empty()) {
            return;
        }
        if (const auto fault = addresses_.check_address(member.address, member.type)) {
            found_.error(inside(member.address_at, member.address, fault->column), fault->text,
                         fault->hint);
        }
    }

    const configuration& value_;
    const address_checker& addresses_;
    diagnostics& found_;
};

}  // namespace

void check(const configuration& value, const address_checker& addresses, diagnostics& found) {
    checker{value, addresses, found}.run();
}

}  // namespace tagferry::gateway::config
