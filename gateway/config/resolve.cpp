#include "gateway/config/checks.hpp"

#include <unistd.h>

#include <array>

namespace tagferry::gateway::config {

namespace {

constexpr std::uint32_t stale_intervals = 3;

// The machine's name for the application URI. OPC UA asks for one that is unique and stays.
std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') {
        return "localhost";
    }
    return name.data();
}

void resolve_tags(connection& owner) {
    for (tag& member : owner.tags) {
        for (std::size_t index = 0; index < owner.scan_classes.size(); ++index) {
            if (owner.scan_classes[index].name == member.scan_class_name) {
                member.scan_class = static_cast<std::uint32_t>(index);
                break;
            }
        }
        if (member.stale_after_ms == 0) {
            member.stale_after_ms =
                stale_intervals * owner.scan_classes[member.scan_class].interval_ms;
        }
    }
}

void resolve_connection(connection& link) {
    if (link.scan_classes.empty()) {
        link.scan_classes.push_back({"default", 1'000, {}});
    }
    if (link.remote_tsap == 0) {
        // Upper byte: the kind of resource, PG 1, OP 2, basic 3; lower byte: rack and slot.
        const unsigned resource = static_cast<unsigned>(link.connection_type) + 1;
        link.remote_tsap =
            static_cast<std::uint16_t>(resource * 256U + link.rack * 32U + link.slot);
    }
    resolve_tags(link);
}

}  // namespace

void resolve(configuration& value) {
    if (value.opcua.listen.empty()) {
        value.opcua.listen.push_back({"127.0.0.1", 4840, {}});
    }
    if (value.web.listen.empty()) {
        value.web.listen.push_back({"127.0.0.1", 8080, {}});
    }
    if (value.opcua.application_uri.empty()) {
        value.opcua.application_uri = "urn:" + host_name() + ":tagferry";
    }
    for (connection& link : value.connections) {
        resolve_connection(link);
    }
}

}  // namespace tagferry::gateway::config
