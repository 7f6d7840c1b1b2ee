#include "gateway/config/fields.hpp"

#include "gateway/config/configuration.hpp"
#include "gateway/config/listen_address.hpp"
#include "gateway/model/tag_path.hpp"

#include <array>

namespace tagferry::gateway::config {

namespace {

constexpr std::int64_t day_ms = 86'400'000;

constexpr std::array<std::string_view, 1> protocol_words = {"s7"};
constexpr std::array<std::string_view, 5> family_words = {"s7-300", "s7-400", "s7-1200", "s7-1500",
                                                          "logo"};
constexpr std::array<std::string_view, 3> connection_type_words = {"pg", "op", "basic"};
constexpr std::array<std::string_view, 2> link_loss_words = {"bad", "uncertain"};
constexpr std::array<std::string_view, 3> token_role_words = {"viewer", "operator", "admin"};
constexpr std::array<std::string_view, 4> log_level_words = {"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 2> log_format_words = {"logfmt", "json"};

template <auto Member>
std::optional<text_fault> append_listen(void* object, std::string_view text, location at) {
    listen_address address;
    address.at = at;
    if (auto fault = parse_listen_address(text, address)) {
        return fault;
    }
    detail::reach<Member>(object).push_back(std::move(address));
    return std::nullopt;
}

template <auto Member>
constexpr field listen_field(std::string_view help) {
    field made{.name = "listen", .kind = field_kind::text_list, .help = help, .maximum = 128};
    made.append_text = &append_listen<Member>;
    made.clear = &detail::clear_list<Member>;
    return made;
}

constexpr std::array tag_fields = {
    text_field<&tag::path>("path",
                           "Groups and name, `/` between them, relative to the "
                           "connection. `/`, `%` and control characters inside a name "
                           "are written %2F, %25, %0A …")
        .from(1, max_path_size)
        .needed()
        .located<&tag::path_at>()
        .such_as("tank/level"),
    text_field<&tag::address>("address",
                              "Area and start, e.g. `DB1.DBX0.3`, `DB1.DBW4`, `MW10`, "
                              "`I0.0`. A leading `%` and the German E and A are "
                              "accepted.")
        .from(1, 64)
        .needed()
        .located<&tag::address_at>()
        .such_as("DB1.DBD0"),
    text_field<&tag::type>("type",
                           "Data type, e.g. `BOOL`, `INT`, `REAL`, `STRING[20]`, "
                           "`ARRAY[0..9] OF INT`. It says the width.")
        .from(1, 64)
        .needed()
        .located<&tag::type_at>()
        .such_as("REAL"),
    text_field<&tag::scan_class_name>("scan_class",
                                      "How often it is read: a name from the "
                                      "connection's `scan_classes`.")
        .from(0, 64)
        .located<&tag::scan_class_at>()
        .becomes("the connection's first")
        .such_as("fast"),
    text_field<&tag::unit>("unit", "Engineering unit, shown and exposed as it is.")
        .from(0, 32)
        .such_as("mm"),
    text_field<&tag::description>("description", "Words for people.").from(0, 1'024),
    boolean_field<&tag::writable>("writable", "Whether clients may write it."),
    integer_field<&tag::stale_after_ms>("stale_after_ms", "Age from which the value is Uncertain.")
        .in("ms")
        .from(0, day_ms)
        .becomes("3 scan intervals"),
};

constexpr object_description tag_object = {
    "tag", "One value of a PLC. The same names are the columns of a CSV side file.", tag_fields,
    &detail::reach<&tag::at>};

constexpr std::array scan_class_fields = {
    text_field<&scan_class::name>("name", "What tags call it.")
        .from(1, 64)
        .needed()
        .located<&scan_class::name_at>()
        .such_as("fast"),
    integer_field<&scan_class::interval_ms>("interval_ms", "Time from one reading to the next.")
        .in("ms")
        .from(1, day_ms),
};

constexpr object_description scan_class_object = {"scan_class", "How often tags are read.",
                                                  scan_class_fields};

constexpr std::array back_off_fields = {
    integer_field<&back_off::min_ms>("min", "Wait before the second attempt; doubles from there.")
        .in("ms")
        .from(50, day_ms),
    integer_field<&back_off::max_ms>("max", "Longest wait.").in("ms").from(50, day_ms),
};

constexpr object_description back_off_object = {
    "back_off", "Waits between attempts to connect, with jitter, for ever.", back_off_fields,
    &detail::reach<&back_off::at>};

constexpr std::array connection_fields = {
    text_field<&connection::name>("name",
                                  "First part of the path of its tags. A rename moves "
                                  "every NodeId.")
        .from(1, 64)
        .needed()
        .located<&connection::name_at>()
        .such_as("press"),
    choice_field<&connection::protocol>("protocol", "What the PLC speaks.", protocol_words),
    text_field<&connection::host>("host", "DNS name or numeric address of the PLC.")
        .from(1, 253)
        .needed()
        .located<&connection::host_at>()
        .such_as("192.0.2.10"),
    integer_field<&connection::port>("port", "TCP port of the PLC.").from(1, 65'535),
    choice_field<&connection::family>("family", "The PLC's family.", family_words),
    integer_field<&connection::rack>("rack", "Rack of the CPU.").from(0, 7),
    integer_field<&connection::slot>("slot",
                                     "Slot of the CPU: 2 in an S7-300, 1 in an S7-1200 "
                                     "or S7-1500.")
        .from(0, 31),
    choice_field<&connection::connection_type>("connection_type",
                                               "Which of the PLC's connection resources is taken.",
                                               connection_type_words),
    integer_field<&connection::pdu_size>("pdu_size", "PDU size asked for; the PLC may grant less.")
        .in("bytes")
        .from(112, 960),
    integer_field<&connection::max_jobs>("max_jobs",
                                         "Jobs in flight asked for; the PLC may grant "
                                         "fewer.")
        .from(1, 32),
    integer_field<&connection::local_tsap>("local_tsap", "Our transport selector.").from(0, 65'535),
    integer_field<&connection::remote_tsap>("remote_tsap", "The PLC's transport selector.")
        .from(0, 65'535)
        .becomes("connection type × 256 + rack × 32 + slot"),
    integer_field<&connection::job_timeout_ms>("job_timeout_ms",
                                               "Longest wait for the answer to "
                                               "one job.")
        .in("ms")
        .from(100, 60'000),
    integer_field<&connection::connect_timeout_ms>("connect_timeout_ms",
                                                   "Longest wait for a connection.")
        .in("ms")
        .from(100, 60'000),
    object_field<&connection::back_off_ms>("back_off_ms", "Waits between attempts to connect.",
                                           back_off_object),
    choice_field<&connection::on_link_loss>(
        "on_link_loss",
        "What clients see while the link is down: `bad` BadNoCommunication "
        "without a value, `uncertain` the last value as Uncertain.",
        link_loss_words),
    object_list_field<&connection::scan_classes>("scan_classes", "The first is the default.",
                                                 scan_class_object)
        .located<&connection::scan_classes_at>()
        .becomes("one, `default`, of 1000 ms"),
    object_list_field<&connection::tags>("tags", "Tags given here.", tag_object),
    text_list_field<&connection::tag_files>("tag_files",
                                            "Side files with more tags, CSV or JSON, "
                                            "relative to this file's folder.")
        .located<&connection::tag_files_at>()
        .such_as("press.csv"),
};

constexpr object_description connection_object = {"connection", "One PLC.", connection_fields,
                                                  &detail::reach<&connection::at>};

constexpr std::array token_fields = {
    text_field<&web_token::name>("name", "Who holds it, as the log shows it.")
        .from(1, 64)
        .needed()
        .located<&web_token::name_at>()
        .such_as("mes"),
    choice_field<&web_token::role>("role",
                                   "What its holder may do: `viewer` reads, `operator` also writes "
                                   "tags, `admin` also changes the configuration.",
                                   token_role_words),
    text_field<&web_token::sha256>("sha256",
                                   "SHA-256 of the token in hexadecimal digits, as `tagferry token "
                                   "new` prints it. This or `token_file`.")
        .from(0, 64)
        .located<&web_token::sha256_at>(),
    text_field<&web_token::token_file>("token_file",
                                       "File whose first line is the token, relative to this "
                                       "file's folder. This or `sha256`.")
        .from(0, 4'096)
        .located<&web_token::token_file_at>()
        .such_as("mes.token"),
};

constexpr object_description token_object = {
    "token", "The credential of a machine, sent as `Authorization: Bearer TOKEN`.", token_fields,
    &detail::reach<&web_token::at>};

constexpr std::array log_fields = {
    choice_field<&log_section::level>("level", "Least important lines written.", log_level_words),
    choice_field<&log_section::format>("format", "Form of a line on standard error.",
                                       log_format_words),
};

constexpr object_description log_object = {"log", "What is logged, and how.", log_fields};

}  // namespace

const field* find_field(const object_description& object, std::string_view name) noexcept {
    for (const field& candidate : object.fields) {
        if (candidate.name == name) {
            return &candidate;
        }
    }
    return nullptr;
}

const object_description& tag_description() noexcept {
    return tag_object;
}

const object_description& configuration_description() noexcept {
    static const std::array opcua_fields = {
        listen_field<&opcua_section::listen>("Addresses the OPC UA server listens on; port 0 is "
                                             "any free one.")
            .located<&opcua_section::listen_at>()
            .becomes("127.0.0.1:4840")
            .such_as("127.0.0.1:4840"),
        boolean_field<&opcua_section::allow_none_policy>(
            "allow_none_policy", "Whether clients may connect without signing and encryption.")
            .located<&opcua_section::allow_none_policy_at>(),
        boolean_field<&opcua_section::allow_anonymous_write>(
            "allow_anonymous_write", "Whether clients without a user may write writable tags."),
        text_field<&opcua_section::application_uri>(
            "application_uri", "URI of this server instance; part of its certificate.")
            .from(0, 255)
            .becomes("`urn:<host name>:tagferry`"),
        text_field<&opcua_section::application_name>("application_name",
                                                     "Name clients show for this server.")
            .from(1, 128),
        object_field<&opcua_section::limits>("limits", "Capacities of the OPC UA server.",
                                             opcua_limits_description()),
    };
    static const object_description opcua_object = {"opcua", "The OPC UA server.", opcua_fields};
    static const std::array web_fields = {
        listen_field<&web_section::listen>("Addresses of page, REST and metrics; port 0 is any "
                                           "free one.")
            .located<&web_section::listen_at>()
            .becomes("127.0.0.1:8080")
            .such_as("127.0.0.1:8080"),
        text_list_field<&web_section::host_names>(
            "host_names",
            "Names by which this gateway is reached, besides its addresses and `localhost`. "
            "Requests for any other name are refused with 421, so that no page of another site "
            "can point its own name here."),
        object_list_field<&web_section::tokens>(
            "tokens", "Credentials of machines. Without one nothing can be written over REST.",
            token_object),
        object_field<&web_section::limits>("limits", "Capacities of the web server.",
                                           web_limits_description()),
    };
    static const object_description web_object = {"web", "Page, REST and metrics.", web_fields};
    static const std::array fields = {
        text_field<&configuration::state_directory>(
            "state_directory", "Folder for what outlives a restart. systemd makes the default.")
            .from(1, 4'096),
        integer_field<&configuration::shards>("shards",
                                              "Threads that move data. One is enough "
                                              "for most boxes; PLC links are spread "
                                              "over all of them.")
            .from(1, 16),
        object_field<&configuration::opcua>("opcua", "The OPC UA server.", opcua_object),
        object_field<&configuration::web>("web", "Page, REST and metrics.", web_object),
        object_field<&configuration::log>("log", "What is logged, and how.", log_object),
        object_field<&configuration::limits>("limits", "Capacities of the whole process.",
                                             process_limits_description()),
        object_list_field<&configuration::connections>("connections", "The PLCs.",
                                                       connection_object),
    };
    static const object_description object = {
        "configuration", "The whole file: JSON in which `//` comments are allowed.", fields};
    return object;
}

}  // namespace tagferry::gateway::config
