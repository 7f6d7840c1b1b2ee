// The configuration as the rest of the gateway sees it: plain values, complete with defaults, and
// checked. Built by load.hpp; never changed afterwards. Member initialisers are the defaults: the
// description (fields.cpp) reads them from here.
#pragma once

#include "gateway/config/access_token.hpp"
#include "gateway/config/limits.hpp"
#include "gateway/config/location.hpp"
#include "protocols/opcua/limits.hpp"
#include "web/http/limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tagferry::gateway::config {

/// What a connection speaks. The first of the sources.
enum class protocol : std::uint8_t { s7 };
/// The PLC's family: decides defaults a device cannot tell by itself.
enum class plc_family : std::uint8_t { s7_300, s7_400, s7_1200, s7_1500, logo };
/// The kind of resource the PLC reserves for this link (upper byte of the remote TSAP).
enum class connection_type : std::uint8_t { pg, op, basic };
/// What clients see of a tag whose link is down.
enum class link_loss : std::uint8_t {
    bad,        ///< BadNoCommunication, null value
    uncertain,  ///< UncertainNoCommunicationLastUsableValue with the last value
};
/// What the holder of a token may do; each may do what the ones before it may.
enum class token_role : std::uint8_t { viewer, operator_, admin };
enum class log_level : std::uint8_t { debug, info, warning, error };
enum class log_format : std::uint8_t { logfmt, json };

/// An address a listener binds: a numeric IPv4 or IPv6 address and a port, 0 for any free one.
/// `localhost` in the text has become `127.0.0.1`. Until security exists it is always loopback.
struct listen_address {
    std::string host;
    std::uint16_t port = 0;
    location at;
};

struct scan_class {
    std::string name;
    std::uint32_t interval_ms = 1'000;
    location name_at;
};

struct tag {
    std::string path;             ///< relative to its connection: groups and name, `/` between them
    std::string address;          ///< area and start as the protocol writes it, e.g. `DB1.DBD0`
    std::string type;             ///< e.g. `REAL`, `STRING[20]`, `ARRAY[0..9] OF INT`
    std::string scan_class_name;  ///< as written; empty: the connection's first
    std::uint32_t scan_class = 0;  ///< index into the connection's scan_classes, resolved
    std::string unit;
    std::string description;
    bool writable = false;
    std::uint32_t stale_after_ms = 0;  ///< 0 as written; resolved to 3 scan intervals
    location at;                       ///< the tag's object or row
    location path_at;
    location address_at;
    location type_at;
    location scan_class_at;
};

struct back_off {
    std::uint32_t min_ms = 500;
    std::uint32_t max_ms = 5'000;
    location at;
};

struct connection {
    std::string name;  ///< first part of the path of its tags; unique
    config::protocol protocol = config::protocol::s7;
    std::string host;  ///< DNS name or numeric address
    std::uint16_t port = 102;
    plc_family family = plc_family::s7_1500;
    std::uint8_t rack = 0;
    std::uint8_t slot = 1;
    config::connection_type connection_type = config::connection_type::op;
    std::uint16_t pdu_size = 960;  ///< asked for; the PLC may grant less
    std::uint16_t max_jobs = 8;    ///< asked for; the PLC may grant less
    std::uint16_t local_tsap = 0x0100;
    std::uint16_t remote_tsap = 0;  ///< 0 as written: resolved from connection type, rack and slot
    std::uint32_t job_timeout_ms = 2'000;
    std::uint32_t connect_timeout_ms = 3'000;
    config::back_off back_off_ms;
    link_loss on_link_loss = link_loss::bad;
    std::vector<config::scan_class> scan_classes;  ///< at least one; the first is the default
    std::vector<config::tag> tags;                 ///< inline ones, then those of the side files
    std::vector<std::string> tag_files;            ///< relative to the configuration file's folder
    location at;
    location name_at;
    location host_at;
    location scan_classes_at;
    location tag_files_at;
};

struct opcua_section {
    std::vector<listen_address> listen;  ///< resolved to 127.0.0.1:4840 when none is written
    bool allow_none_policy = false;
    bool allow_anonymous_write = false;
    std::string application_uri;  ///< resolved to `urn:<host name>:tagferry` when empty
    std::string application_name = "Tagferry";
    tagferry::opcua::limits limits;
    location listen_at;
    location allow_none_policy_at;
};

/// A credential of a machine. Only its digest is kept.
struct web_token {
    std::string name;  ///< who holds it, as the log shows it; unique
    token_role role = token_role::viewer;
    std::string sha256;      ///< 64 hexadecimal digits; this or `token_file`
    std::string token_file;  ///< relative to the configuration file's folder
    token_digest digest{};   ///< resolved from either
    location at;
    location name_at;
    location sha256_at;
    location token_file_at;
};

struct web_section {
    std::vector<listen_address> listen;  ///< resolved to 127.0.0.1:8080 when none is written
    std::vector<std::string> host_names;  ///< besides addresses and localhost
    std::vector<web_token> tokens;
    tagferry::web::http_limits limits;
    location listen_at;
};

struct log_section {
    log_level level = log_level::info;
    log_format format = log_format::logfmt;
};

struct configuration {
    std::string state_directory = "/var/lib/tagferry";
    std::uint32_t shards = 1;
    opcua_section opcua;
    web_section web;
    log_section log;
    process_limits limits;
    std::vector<connection> connections;
};

}  // namespace tagferry::gateway::config
