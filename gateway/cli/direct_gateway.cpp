#include "gateway/cli/direct_gateway.hpp"

#include "gateway/cli/terminal.hpp"
#include "gateway/cli/value_rows.hpp"
#include "gateway/config/access_token.hpp"
#include "gateway/config/address_checker.hpp"
#include "gateway/config/checks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace tagferry::gateway::cli {

namespace {

using nlohmann::ordered_json;

client_fault bad_point(const std::string& point, const std::string& words) {
    return {exit_code::bad_data, "\"" + printable(point) + "\": " + words};
}

config::tag tag_of(const std::string& point) {
    const std::size_t colon = point.find(':');
    if (colon == std::string::npos) {
        throw bad_point(point, "write ADDRESS:TYPE, e.g. DB1.DBD0:REAL");
    }
    config::tag made;
    made.address = point.substr(0, colon);
    made.type = point.substr(colon + 1);
    // The percent sign an address may begin with would begin an escape in a path.
    made.path = made.address.starts_with('%') ? point.substr(1) : point;
    made.writable = true;
    return made;
}

config::connection connection_of(const direct_options& options,
                                 const std::vector<std::string>& points) {
    config::connection made;
    const std::string& host = options.host;
    const std::size_t colon = host.find(':');
    made.host = host;
    if (colon != std::string::npos && colon == host.rfind(':')) {
        made.host = host.substr(0, colon);
        const char* const end = host.data() + host.size();
        const auto [at, error] = std::from_chars(host.data() + colon + 1, end, made.port);
        if (error != std::errc{} || at != end || made.port == 0) {
            throw client_fault(exit_code::usage,
                               "\"" + printable(host) + "\" has no port from 1 to 65535");
        }
    }
    made.name = "plc";
    made.rack = static_cast<std::uint8_t>(options.rack);
    made.slot = static_cast<std::uint8_t>(options.slot);
    made.scan_classes.resize(1);
    made.scan_classes[0].name = "direct";
    made.scan_classes[0].interval_ms = static_cast<std::uint32_t>(options.interval.count());
    for (const std::string& point : points) {
        const config::tag added = tag_of(point);
        const bool known =
            std::any_of(made.tags.begin(), made.tags.end(),
                        [&](const config::tag& each) { return each.path == added.path; });
        if (!known) {
            made.tags.push_back(added);
        }
    }
    return made;
}

void check_points(const config::connection& link) {
    for (const config::tag& each : link.tags) {
        std::optional<config::text_fault> fault =
            config::s7_address_checker().check_type(each.type);
        if (!fault) {
            fault = config::s7_address_checker().check_address(each.address, each.type);
        }
        if (fault) {
            throw bad_point(each.path,
                            std::string{fault->text} +
                                (fault->hint.empty() ? "" : " (" + std::string{fault->hint} + ")"));
        }
    }
}

}  // namespace

direct_gateway::direct_gateway(const direct_options& options,
                               const std::vector<std::string>& points)
    : logger_({}, nowhere_, clock_) {
    config::configuration settings;
    settings.state_directory.clear();
    settings.opcua.listen = {{"127.0.0.1", 0, {}}};
    settings.web.listen = {{"127.0.0.1", 0, {}}};
    settings.connections.push_back(connection_of(options, points));
    check_points(settings.connections.front());
    const std::string token = config::make_token();
    config::web_token own;
    own.name = "direct";
    own.role = config::token_role::operator_;
    config::token_hasher{}.digest(token, own.digest);
    settings.web.tokens.push_back(own);
    config::resolve(settings);
    for (const std::string& point : points) {
        tags_.push_back("plc/" + tag_of(point).path);
    }
    try {
        gateway_ = std::make_unique<gateway>(std::move(settings), logger_, clock_);
        gateway_->start();
    } catch (const std::system_error& fault) {
        throw client_fault(exit_code::cannot_create, fault.what());
    }
    address_ = gateway_address_of(gateway_->endpoints().http.front());
    address_.token = token;
    wait_until_read();
}

direct_gateway::~direct_gateway() = default;

void direct_gateway::wait_until_read() {
    gateway_client client(address_);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (;;) {
        std::string reason;
        for_each_item(client, "/api/v1/connections", [&](const ordered_json& link) {
            if (link.at("reason").is_string() && link.at("connect_failures").get<int>() > 0) {
                reason = link.at("reason").get<std::string>();
            }
        });
        if (!reason.empty()) {
            throw client_fault(exit_code::unavailable, "the PLC cannot be reached: " + reason);
        }
        const std::vector<ordered_json> rows = read_rows(client, tags_, {});
        const bool all = std::all_of(rows.begin(), rows.end(), [](const ordered_json& row) {
            return row.at("status") != "BadWaitingForInitialData" &&
                   row.at("status") != "BadNoCommunication";
        });
        if (all) {
            return;
        }
        if (std::chrono::steady_clock::now() > end) {
            throw client_fault(exit_code::unavailable, "the PLC did not answer in ten seconds");
        }
        std::string nothing;
        client.wait(std::chrono::milliseconds(20), nothing);
    }
}

}  // namespace tagferry::gateway::cli
