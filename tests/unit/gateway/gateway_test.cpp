// The gateway as a whole, in one process: simulated PLC, sockets on loopback, REST by hand.
#include "gateway/app/gateway.hpp"

#include "gateway/config/fields.hpp"
#include "gateway/config/load.hpp"
#include "gateway/simulation/simulated_station.hpp"
#include "tests/support/opcua/raw_client.hpp"
#include "tests/support/opcua/socket_engine.hpp"
#include "transport/threads/shard.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;

class no_output final : public log::line_output {
  public:
    bool offer(std::span<const std::byte>) noexcept override { return true; }
};

/// One request on a connection of its own; the answer with its head.
std::string http_get(const std::string& url, const std::string& target) {
    const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string answer;
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
        const std::string request =
            "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        static_cast<void>(::send(fd, request.data(), request.size(), MSG_NOSIGNAL));
        std::array<char, 4096> buffer{};
        for (ssize_t got = 0; (got = ::recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
            answer.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }
    ::close(fd);
    return answer;
}

class gateway_test : public testing::TestWithParam<int> {
  protected:
    virtual s7::simulator_config plc() const {
        s7::simulator_config made;
        made.data_blocks = {{1, 64}};
        return made;
    }
    virtual std::vector<s7::scripted_fault> script() const { return {}; }

    void SetUp() override {
        station_.emplace(plc_shard_, plc(), std::uint16_t{0}, script());
        station_->plc().memory().bytes(s7::area::data_block, 1)[3] = std::byte{42};
        station_->start();
        plc_shard_.start();
    }
    void TearDown() override {
        if (running_) {
            running_->stop();
        }
        running_.reset();
        plc_shard_.stop();
        plc_shard_.join();
    }

    static constexpr const char* first_tags =
        R"({"path": "tank/level", "address": "DB1.DBW2", "type": "INT"},
           {"path": "gone", "address": "DB9.DBW2", "type": "INT"})";

    /// @param more options of the connection, each with a comma after it.
    config::configuration made_of(const std::string& tags, const std::string& more = "") const {
        const std::string text = R"({"shards": )" + std::to_string(GetParam()) + R"(,
              "opcua": {"listen": ["127.0.0.1:0"], "allow_none_policy": true},
              "web": {"listen": ["127.0.0.1:0"]},
              "connections": [{"name": "press", "protocol": "s7", "host": "127.0.0.1",
                "port": )" + std::to_string(station_->port()) +
                                 R"(, "back_off_ms": {"min": 50, "max": 100}, )" + more + R"(
                "scan_classes": [{"name": "fast", "interval_ms": 20},
                                 {"name": "slow", "interval_ms": 40}],
                "tags": [)" + tags +
                                 "]}]}";
        auto loaded = config::load_text(text, "test", "");
        EXPECT_TRUE(loaded.found.ok());
        return std::move(loaded.value);
    }
    void start() {
        running_.emplace(made_of(first_tags), logger_, clock_);
        running_->start();
    }
    std::string get(const std::string& target) {
        return http_get(running_->endpoints().http.front(), target);
    }
    /// True once the answer holds the text.
    bool comes(const std::string& target, const std::string& text) {
        for (int tries = 0; tries < 500; ++tries) {
            last_ = get(target);
            if (last_.find(text) != std::string::npos) {
                return true;
            }
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }
    /// What the metrics page says of a series now.
    double metric(const std::string& series) {
        const std::string page = get("/metrics");
        const std::size_t at = page.find("\n" + series + " ");
        EXPECT_NE(at, std::string::npos) << series;
        return at == std::string::npos ? -1 : std::stod(page.substr(at + series.size() + 2));
    }
    /// True once the series is over `least`.
    bool exceeds(const std::string& series, double least) {
        for (int tries = 0; tries < 500; ++tries) {
            if (metric(series) > least) {
                return true;
            }
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }
    /// On the PLC's shard, then waits until it is done.
    void on_plc(void (*work)(void*, std::uint64_t, std::uint64_t)) {
        ASSERT_TRUE(plc_shard_.post({work, &*station_, 0, 0}));
    }

    transport::real_clock clock_;
    no_output output_;
    log::logger logger_{config::log_section{}, output_, clock_};
    transport::shard plc_shard_{{"plc"}, clock_};
    std::optional<simulated_station> station_;
    std::optional<gateway> running_;
    std::string last_;
};

TEST_P(gateway_test, a_value_of_the_plc_is_read_over_rest_through_loss_and_recovery) {
    start();
    ASSERT_TRUE(comes("/api/v1/values/press/tank/level", "\"Good\"")) << last_;
    EXPECT_NE(last_.find("\"value\":42"), std::string::npos) << last_;
    ASSERT_TRUE(comes("/api/v1/values/press/gone", "BadNotFound")) << last_;
    on_plc([](void* object, std::uint64_t, std::uint64_t) {
        static_cast<simulated_station*>(object)->pull_cable();
    });
    ASSERT_TRUE(comes("/api/v1/values/press/tank/level", "BadNoCommunication")) << last_;
    EXPECT_NE(last_.find("\"last_good\""), std::string::npos) << last_;
    EXPECT_NE(last_.find("no connection to the PLC"), std::string::npos) << last_;
    on_plc([](void* object, std::uint64_t, std::uint64_t) {
        static_cast<simulated_station*>(object)->plug_cable_in();
    });
    EXPECT_TRUE(comes("/api/v1/values/press/tank/level", "\"Good\"")) << last_;
}

TEST_P(gateway_test, a_device_read_goes_to_the_plc) {
    start();
    ASSERT_TRUE(comes("/api/v1/values/press/tank/level", "\"Good\"")) << last_;
    const std::string answer = get("/api/v1/values/press/tank/level?max_age=0");
    EXPECT_NE(answer.find("\"value\":42"), std::string::npos) << answer;
    EXPECT_NE(get("/api/v1/values/press/nothing").find("404"), std::string::npos);
}

TEST_P(gateway_test, trees_connections_and_probes_answer) {
    start();
    ASSERT_TRUE(comes("/api/v1/connections", "\"state\":\"up\"")) << last_;
    EXPECT_NE(get("/api/v1/browse/press").find("tank"), std::string::npos);
    EXPECT_NE(get("/api/v1/browse").find("press"), std::string::npos);
    EXPECT_NE(get("/api/v1/tags").find("ns=3;s=press/tank/level"), std::string::npos);
    EXPECT_NE(get("/api/v1/values?filter=press/**").find("press/gone"), std::string::npos);
    EXPECT_NE(get("/healthz").find("200"), std::string::npos);
    EXPECT_NE(get("/readyz").find("200"), std::string::npos);
}

TEST_P(gateway_test, every_series_is_there_from_the_first_scrape) {
    start();
    const std::string page = get("/metrics");
    for (const char* const wanted :
         {"tagferry_build_info",
          "tagferry_operations_total{kind=\"s7_read\"}",
          "tagferry_operations_total{kind=\"opcua_read\"}",
          "tagferry_operations_total{kind=\"http_value\"}",
          "tagferry_operation_allocations_total{kind=\"control\"}",
          "tagferry_operation_allocated_bytes_total{kind=\"other\"}",
          "tagferry_operation_duration_seconds_bucket{kind=\"s7_read\",le=\"+Inf\"}",
          "tagferry_pool_rents_total{pool=\"s7\"}",
          "tagferry_pool_refusals_total",
          "tagferry_pool_high_water",
          "tagferry_pool_locked_bytes",
          "tagferry_transport_messages_total{protocol=\"opcua\"}",
          "tagferry_transport_writes_total{protocol=\"s7\"}",
          "tagferry_tags{quality=\"good\"}",
          "tagferry_tags{quality=\"uncertain\"}",
          "tagferry_tags{quality=\"bad\"}",
          "tagferry_connection_up{connection=\"press\"}",
          "tagferry_s7_request_failures_total{connection=\"press\",reason=\"not_sent\"}",
          "tagferry_s7_bytes_written_total{connection=\"press\"}",
          "tagferry_write_duration_seconds_bucket{connection=\"press\",le=\"+Inf\"}",
          "process_cpu_seconds_total",
          "process_resident_memory_bytes",
          "process_open_fds",
          "process_start_time_seconds",
          "tagferry_http_requests_total"}) {
        EXPECT_NE(page.find(wanted), std::string::npos) << wanted;
    }
    ASSERT_TRUE(comes("/metrics", "tagferry_connection_up{connection=\"press\"} 1"));
    ASSERT_TRUE(comes("/metrics", "tagferry_tags{quality=\"good\"} 1"));
}

/// Whether a page of metrics has this series: `name`, or `name{label="value"}` with more labels or
/// without.
bool has_series(const std::string& page, const std::string& wanted) {
    const std::string line = "\n" + wanted;
    if (wanted.back() == '}') {
        return page.find(line) != std::string::npos;
    }
    return page.find(line + " ") != std::string::npos || page.find(line + "{") != std::string::npos;
}

TEST_P(gateway_test, every_metric_that_a_limit_names_is_there) {
    start();
    const std::string page = get("/metrics");
    std::size_t named = 0;
    for (const config::object_description* const object :
         {&config::opcua_limits_description(), &config::web_limits_description(),
          &config::process_limits_description()}) {
        for (const config::field& limit : object->fields) {
            if (!limit.metric.empty()) {
                ++named;
                EXPECT_TRUE(has_series(page, std::string(limit.metric)))
                    << object->name << "." << limit.name << ": " << limit.metric;
            }
        }
    }
    EXPECT_GT(named, 10u);
}

TEST_P(gateway_test, every_metric_that_an_alert_names_is_there) {
    start();
    const std::string page = get("/metrics");
    std::ifstream file("deploy/prometheus/tagferry.rules.yml");
    const std::string rules{std::istreambuf_iterator<char>(file), {}};
    const std::regex name("tagferry_[a-z0-9_]+");
    std::set<std::string> names;
    for (std::sregex_iterator at(rules.begin(), rules.end(), name), end; at != end; ++at) {
        names.insert(at->str());
    }
    EXPECT_GE(names.size(), 4u);
    for (const std::string& each : names) {
        EXPECT_TRUE(has_series(page, each)) << each;
    }
}

TEST_P(gateway_test, starts_and_stops_in_any_state) {
    for (int i = 0; i < 5; ++i) {
        start();
        std::this_thread::sleep_for(std::chrono::milliseconds(i * 5));
        running_->stop();
        running_->stop();
        running_.reset();
    }
    start();
    running_.reset();
}

TEST_P(gateway_test, a_port_that_is_taken_is_said) {
    start();
    const std::string url = running_->endpoints().http.front();
    const std::string port = url.substr(url.rfind(':') + 1);
    auto loaded = config::load_text(R"({"opcua": {"listen": ["127.0.0.1:0"]},
        "web": {"listen": ["127.0.0.1:)" +
                                        port + R"("]}})",
                                    "test", "");
    ASSERT_TRUE(loaded.found.ok());
    try {
        const gateway second(std::move(loaded.value), logger_, clock_);
        ADD_FAILURE() << "two gateways on one port";
    } catch (const std::system_error& error) {
        EXPECT_NE(std::string(error.what()).find(port), std::string::npos) << error.what();
    }
}

/// The names that RegisterNodes gives.
std::vector<std::string> registered(opcua::test::raw_client& client,
                                    const std::vector<std::string>& nodes) {
    namespace test = opcua::test;
    const test::reply message = client.call(
        client.request(opcua::id::register_nodes_request_binary, [&](opcua::encoder& out) {
            out.u32(static_cast<std::uint32_t>(nodes.size()));
            for (const std::string& each : nodes) {
                test::raw_client::write_id(out, each);
            }
        }));
    test::bytes rest;
    EXPECT_EQ(test::raw_client::result_of(message, nullptr, &rest), opcua::status::good);
    const opcua::limits bounds;
    opcua::decoder in{rest, bounds};
    std::vector<std::string> names;
    for (std::uint32_t left = in.array_length(1); left != 0; --left) {
        names.push_back("3#" + std::to_string(in.node_id().number));
    }
    return names;
}

opcua::status_code read_status(opcua::test::raw_client& client, const std::string& node) {
    opcua::test::bytes rest;
    opcua::test::raw_client::result_of(client.call(client.read_request({node})), nullptr, &rest);
    const opcua::limits bounds;
    opcua::decoder in{rest, bounds};
    in.array_length(1);
    return in.data_value().status;
}

TEST_P(gateway_test, tags_come_and_go_while_it_runs) {
    start();
    ASSERT_TRUE(comes("/api/v1/values/press/tank/level", "\"Good\"")) << last_;
    const std::string url = running_->endpoints().opcua.front();
    opcua::test::raw_client client{
        std::make_unique<opcua::test::socket_engine>(
            static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)))),
        clock_};
    client.open_session();
    const auto level = registered(client, {"press/tank/level"}).at(0);
    const auto gone = registered(client, {"press/gone"}).at(0);
    EXPECT_EQ(read_status(client, level), opcua::status::good);

    const std::string other_tags =
        R"({"path": "new", "address": "DB1.DBW8", "type": "INT", "scan_class": "slow"},
           {"path": "tank/level", "address": "DB1.DBW2", "type": "INT"})";
    running_->apply(made_of(other_tags, ""));
    EXPECT_EQ(read_status(client, level), opcua::status::good) << "neither id nor value moved";
    EXPECT_EQ(read_status(client, gone), opcua::status::bad_node_id_unknown);
    EXPECT_EQ(read_status(client, "press/gone"), opcua::status::bad_node_id_unknown);
    EXPECT_NE(get("/api/v1/values/press/gone").find("HTTP/1.1 404"), std::string::npos);
    EXPECT_TRUE(comes("/api/v1/values/press/new", "\"Good\"")) << last_;
    EXPECT_EQ(read_status(client, "press/new"), opcua::status::good);

    // Back again, and in its place in the table: the old number is not its name.
    running_->apply(made_of(first_tags));
    EXPECT_TRUE(comes("/api/v1/values/press/gone", "BadNotFound")) << last_;
    EXPECT_EQ(read_status(client, gone), opcua::status::bad_node_id_unknown);
    EXPECT_EQ(read_status(client, level), opcua::status::good);
    EXPECT_NE(get("/api/v1/values/press/new").find("HTTP/1.1 404"), std::string::npos);
    EXPECT_NE(get("/metrics").find("tagferry_tags{quality=\"good\"} 1\n"), std::string::npos);
    EXPECT_NE(get("/metrics").find("tagferry_tags{quality=\"bad\"} 1\n"), std::string::npos);
    EXPECT_NE(get("/metrics").find("tagferry_connection_connects_total{connection=\"press\"} 1"),
              std::string::npos)
        << "the link stayed up";
}

TEST_P(gateway_test, what_needs_a_restart_is_refused_and_named) {
    start();
    const auto refusal = [this](config::configuration next) {
        try {
            running_->apply(std::move(next));
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    config::configuration next = made_of("", R"("job_timeout_ms": 700, "rack": 2,)");
    std::string words = refusal(next);
    EXPECT_NE(words.find("connections.press.job_timeout_ms"), std::string::npos) << words;
    EXPECT_NE(words.find("connections.press.rack"), std::string::npos) << words;
    EXPECT_EQ(words.find("port"), std::string::npos) << words;
    next = made_of(first_tags);
    next.connections[0].back_off_ms.max_ms = 200;
    next.connections.push_back(next.connections[0]);
    next.connections.back().name = "oven";
    next.opcua.limits.max_sessions += 1;
    next.web.listen[0].port = 1;
    words = refusal(next);
    for (const char* const wanted : {"connections.press.back_off_ms.max", "connections.oven: added",
                                     "opcua.limits.max_sessions", "web.listen"}) {
        EXPECT_NE(words.find(wanted), std::string::npos) << words;
    }
    next = made_of("");
    next.connections.clear();
    EXPECT_NE(refusal(next).find("connections.press: removed"), std::string::npos);
    EXPECT_TRUE(comes("/api/v1/values/press/tank/level", "\"Good\"")) << "nothing was changed";
    running_->stop();
    EXPECT_THROW(running_->apply(made_of(first_tags)), std::logic_error);
}

const std::string timed_out_jobs =
    "tagferry_s7_request_failures_total{connection=\"press\",reason=\"timed_out\"}";
const std::string oldest_age = "tagferry_tag_oldest_age_seconds{connection=\"press\"}";
const std::string poll_lag = "tagferry_poll_lag_seconds{connection=\"press\"}";

TEST_P(gateway_test, each_configuration_taken_over_is_a_revision) {
    start();
    EXPECT_EQ(metric("tagferry_config_revision"), 1);
    running_->apply(made_of(first_tags));
    EXPECT_EQ(metric("tagferry_config_revision"), 2);
    EXPECT_THROW(running_->apply(made_of("", R"("rack": 2,)")), std::invalid_argument);
    EXPECT_EQ(metric("tagferry_config_revision"), 2) << "nothing was taken over";
}

TEST_P(gateway_test, a_value_kept_while_the_plc_is_away_is_uncertain_and_still_shown) {
    running_.emplace(made_of(first_tags, R"("on_link_loss": "uncertain",)"), logger_, clock_);
    running_->start();
    ASSERT_TRUE(comes("/api/v1/values/press/tank/level", "\"Good\"")) << last_;
    on_plc([](void* object, std::uint64_t, std::uint64_t) {
        static_cast<simulated_station*>(object)->pull_cable();
    });
    ASSERT_TRUE(comes("/api/v1/values/press/tank/level",
                      "\"value\":42,\"status\":\"UncertainNoCommunicationLastUsableValue\""))
        << last_;
}

TEST_P(gateway_test, the_oldest_answer_ages_while_the_plc_is_away) {
    start();
    ASSERT_TRUE(comes("/api/v1/values/press/tank/level", "\"Good\"")) << last_;
    ASSERT_TRUE(comes("/metrics", poll_lag + " 0\n")) << "scans end in time";
    on_plc([](void* object, std::uint64_t, std::uint64_t) {
        static_cast<simulated_station*>(object)->pull_cable();
    });
    EXPECT_TRUE(exceeds(oldest_age, 0.3));
    on_plc([](void* object, std::uint64_t, std::uint64_t) {
        static_cast<simulated_station*>(object)->plug_cable_in();
    });
    ASSERT_TRUE(comes("/api/v1/values/press/tank/level", "\"Good\"")) << last_;
    EXPECT_LT(metric(oldest_age), 0.3) << "scanned every 20 ms again";
}

/// A PLC that answers each job 90 ms late, and after a second no job at all.
class slow_plc_test : public gateway_test {
  protected:
    s7::simulator_config plc() const override {
        s7::simulator_config made = gateway_test::plc();
        made.latency = 90ms;
        return made;
    }
    std::vector<s7::scripted_fault> script() const override {
        s7::scripted_fault silence;
        silence.kind = s7::fault_kind::silence;
        silence.start = 1s;
        return {silence};
    }
};

TEST_P(slow_plc_test, late_scans_and_unanswered_jobs_are_counted_as_what_they_are) {
    running_.emplace(made_of(first_tags, R"("job_timeout_ms": 200,)"), logger_, clock_);
    running_->start();
    EXPECT_EQ(metric(timed_out_jobs), 0);
    EXPECT_TRUE(exceeds(poll_lag, 0.05)) << "90 ms for a scan of every 20 ms";
    EXPECT_TRUE(exceeds(timed_out_jobs, 0));
    for (const char* const other : {"refused", "reply_unusable"}) {
        EXPECT_EQ(metric("tagferry_s7_request_failures_total{connection=\"press\",reason=\"" +
                         std::string(other) + "\"}"),
                  0);
    }
}

INSTANTIATE_TEST_SUITE_P(shards, slow_plc_test, testing::Values(1));
INSTANTIATE_TEST_SUITE_P(shards, gateway_test, testing::Values(1, 3));

}  // namespace
}  // namespace tagferry::gateway
