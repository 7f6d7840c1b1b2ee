#include "gateway/app/restart_needed.hpp"

#include "gateway/config/fields.hpp"

#include <algorithm>

namespace tagferry::gateway {
namespace {

using config::field;
using config::field_kind;

bool differs(const field& which, void* now, void* next) {
    switch (which.kind) {
        case field_kind::text:
            return which.text(now) != which.text(next);
        case field_kind::boolean:
            return which.boolean(now) != which.boolean(next);
        case field_kind::integer:
        case field_kind::choice:
            return which.get_integer(now) != which.get_integer(next);
        case field_kind::text_list:
        case field_kind::object:
        case field_kind::object_list:
            break;
    }
    return false;
}

/// Everything that is not a list.
void compare(const config::object_description& object, const std::string& prefix, void* now,
             void* next, std::vector<std::string>& found) {
    for (const field& each : object.fields) {
        const std::string name = prefix + std::string(each.name);
        if (each.kind == field_kind::object) {
            compare(*each.object, name + ".", each.member(now), each.member(next), found);
        } else if (differs(each, now, next)) {
            found.push_back(name);
        }
    }
}

bool same_addresses(const std::vector<config::listen_address>& now,
                    const std::vector<config::listen_address>& next) {
    return std::ranges::equal(now, next, [](const auto& a, const auto& b) {
        return a.host == b.host && a.port == b.port;
    });
}

bool same_tokens(const std::vector<config::web_token>& now,
                 const std::vector<config::web_token>& next) {
    return std::ranges::equal(now, next, [](const auto& a, const auto& b) {
        return a.name == b.name && a.role == b.role && a.digest == b.digest;
    });
}

config::connection* find_connection(config::configuration& in, const std::string& name) {
    const auto found = std::ranges::find(in.connections, name, &config::connection::name);
    return found == in.connections.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> restart_needed_for(config::configuration& now,
                                            config::configuration& next) {
    std::vector<std::string> found;
    const config::object_description& whole = config::configuration_description();
    compare(whole, "", &now, &next, found);
    if (!same_addresses(now.opcua.listen, next.opcua.listen)) {
        found.push_back("opcua.listen");
    }
    if (!same_addresses(now.web.listen, next.web.listen)) {
        found.push_back("web.listen");
    }
    if (now.web.host_names != next.web.host_names) {
        found.push_back("web.host_names");
    }
    if (!same_tokens(now.web.tokens, next.web.tokens)) {
        found.push_back("web.tokens");
    }
    const config::object_description& connection =
        *config::find_field(whole, "connections")->object;
    for (config::connection& each : now.connections) {
        const std::string name = "connections." + each.name;
        if (config::connection* const same = find_connection(next, each.name)) {
            compare(connection, name + ".", &each, same, found);
        } else {
            found.push_back(name + ": removed");
        }
    }
    for (const config::connection& each : next.connections) {
        if (find_connection(now, each.name) == nullptr) {
            found.push_back("connections." + each.name + ": added");
        }
    }
    return found;
}

}  // namespace tagferry::gateway
