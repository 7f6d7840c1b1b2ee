// Writes of the web on their way to sources on several shards, all driven by hand.
#include "gateway/expose/web/writes.hpp"
#include "gateway/sources/s7/s7_types.hpp"
#include "tests/support/gateway/fake_source.hpp"
#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;
using web::write_ending;

/// Keeps every line that was logged.
class kept_lines final : public log::line_output {
  public:
    bool offer(std::span<const std::byte> record) noexcept override {
        const std::lock_guard lock(mutex_);
        lines_.emplace_back(reinterpret_cast<const char*>(record.data()) + 1, record.size() - 1);
        return true;
    }
    std::vector<std::string> lines() const {
        const std::lock_guard lock(mutex_);
        return lines_;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

class web_writes_test : public testing::Test,
                        public model_access,
                        public transport::completion_sink {
  public:
    web_writes_test() {
        const std::array<const char*, 2> names = {"mill", "press"};
        for (const char* const name : names) {
            config::connection& made = configuration_.connections.emplace_back();
            made.name = name;
            made.scan_classes = {{"fast", 100, {}}};
            add_tag(made, "a", "INT", true);
            add_tag(made, "text", "STRING[4]", true);
            add_tag(made, "texts", "ARRAY[0..1] OF STRING[4]", true);
            add_tag(made, "fixed", "INT", false);
        }
        std::vector<model_error> errors;
        model_ = builder_.build(configuration_, &read_s7_type, errors);
        EXPECT_TRUE(errors.empty());
        for (std::size_t i = 0; i < names.size(); ++i) {
            const connection_definition& connection = model_->connections()[i];
            sources_[i] = std::make_unique<test::fake_source>(shards_[i], table_, connection.owner);
            directory_.add({sources_[i].get(), &shards_[i], connection.owner, names[i], ""});
            const transport::turn_scope turn(shards_[i]);
            sources_[i]->apply(*model_, connection);
            sources_[i]->start();
        }
        web_write_limits limits;
        limits.requests = 2;
        limits.value_bytes = 64;
        writes_ = std::make_unique<web_writes>(shards_[0], *this, directory_, logger_, limits);
        let_things_happen();
    }
    static void add_tag(config::connection& to, const char* path, const char* type, bool writable) {
        config::tag& made = to.tags.emplace_back();
        made.path = path;
        made.address = "DB1.DBB0";
        made.type = type;
        made.writable = writable;
    }
    const tag_model& model() const noexcept override { return *model_; }
    void resume(transport::completion_token, std::uint32_t result, transport::time_point) override {
        EXPECT_FALSE(calling_) << "resumed on the caller's stack";
        EXPECT_EQ(result, static_cast<std::uint32_t>(web::outcome::done));
        ++resumed_;
    }
    void let_things_happen() {
        for (int round = 0; round < 20; ++round) {
            for (transport::shard& each : shards_) {
                each.poll_here();
            }
        }
    }
    void advance(transport::duration step) {
        clock_.advance(step);
        for (transport::shard& each : shards_) {
            each.wake();
        }
        let_things_happen();
    }
    template <class Function>
    void on(std::size_t where, Function&& function) {
        const transport::turn_scope turn(shards_[where]);
        function(*sources_[where]);
    }

    struct wanted {
        std::string path;
        web::value_type type = web::value_type::int16;
        std::vector<std::byte> bytes;
        std::int32_t array_length = web::scalar;
    };
    static wanted number(std::string path, std::int16_t value) {
        wanted made{std::move(path), web::value_type::int16, {}, web::scalar};
        made.bytes.resize(sizeof value);
        std::memcpy(made.bytes.data(), &value, sizeof value);
        return made;
    }
    static std::vector<std::byte> counted(std::string_view text) {
        std::vector<std::byte> bytes(2 + text.size());
        const auto size = static_cast<std::uint16_t>(text.size());
        std::memcpy(bytes.data(), &size, sizeof size);
        std::memcpy(bytes.data() + 2, text.data(), text.size());
        return bytes;
    }

    /// Starts a request whose results lie in `results_`.
    web::outcome write(const std::vector<wanted>& items) {
        results_.assign(items.size(), {});
        std::vector<web::write_item> asked;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const model_node* const node = model_->find(items[i].path);
            const tag_handle tag = model_->tags()[node->item].handle;
            asked.push_back({{tag.index, tag.generation},
                             items[i].path,
                             {items[i].type, items[i].array_length, items[i].bytes},
                             "5",
                             &results_[i]});
        }
        const transport::turn_scope turn(shards_[0]);
        const web::actor who{0, "shift", "127.0.0.1:1", web::role::operator_,
                             web::channel_security::loopback};
        const web::call context{who, clock_.now(), clock_.now() + 2s, this, {1, 1}};
        calling_ = true;
        const web::outcome how = writes_->write(context, asked, "trial");
        calling_ = false;
        return how;
    }

    transport::manual_clock clock_;
    std::array<transport::shard, 2> shards_{transport::shard{{.name = "one"}, clock_},
                                            transport::shard{{.name = "two"}, clock_}};
    tag_table table_;
    model_builder builder_{table_};
    config::configuration configuration_;
    std::unique_ptr<const tag_model> model_;
    std::array<std::unique_ptr<test::fake_source>, 2> sources_;
    source_directory directory_;
    kept_lines lines_;
    log::logger logger_{{}, lines_, clock_};
    std::unique_ptr<web_writes> writes_;
    std::vector<web::write_result> results_;
    int resumed_ = 0;
    bool calling_ = false;
};

TEST_F(web_writes_test, each_item_reaches_its_device_and_has_its_result) {
    EXPECT_EQ(write({number("mill/a", 3),
                     number("press/a", 4),
                     {"press/text", web::value_type::string, counted("ab"), web::scalar},
                     number("mill/fixed", 1)}),
              web::outcome::deferred);
    let_things_happen();
    EXPECT_EQ(resumed_, 1);
    for (const std::size_t accepted : {0U, 1U, 2U}) {
        EXPECT_TRUE(results_[accepted].ok());
        EXPECT_EQ(results_[accepted].ending, write_ending::answered);
        EXPECT_EQ(results_[accepted].http_status, 200);
    }
    EXPECT_EQ(results_[3].ending, write_ending::rejected);
    EXPECT_EQ(results_[3].http_status, 409);
    EXPECT_EQ(results_[3].code, "write_read_only");
    ASSERT_EQ(sources_[1]->writes_received().size(), 2U);
    const auto& text = sources_[1]->writes_received()[1].value;
    EXPECT_EQ(std::memcmp(text.data(), counted("ab").data(), 4), 0);
    const auto seen = writes_->counts();
    EXPECT_EQ(seen.accepted, 3U);
    EXPECT_EQ(seen.rejected, 1U);
    const std::vector<std::string> lines = lines_.lines();
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_NE(lines[1].find("write.accepted"), std::string::npos) << lines[1];
    EXPECT_NE(lines[1].find("shift"), std::string::npos) << lines[1];
    EXPECT_NE(lines[1].find("trial"), std::string::npos) << lines[1];
}

TEST_F(web_writes_test, what_is_refused_at_once_is_answered_at_once) {
    EXPECT_EQ(write({number("mill/fixed", 1),
                     {"mill/text", web::value_type::string,
                      counted("longer than any STRING[4] may be"), web::scalar},
                     {"mill/texts", web::value_type::string, counted("a"), 2},
                     {"mill/a", web::value_type::int32, std::vector<std::byte>(4), web::scalar}}),
              web::outcome::done);
    EXPECT_EQ(resumed_, 0);
    EXPECT_EQ(results_[1].code, "write_too_long");
    EXPECT_EQ(results_[2].code, "write_too_long");
    EXPECT_EQ(results_[3].code, "write_type_mismatch");
    EXPECT_TRUE(sources_[0]->writes_received().empty());
}

TEST_F(web_writes_test, the_order_of_a_tags_writes_is_that_of_the_requests) {
    write({number("press/a", 1), number("press/a", 2)});
    std::vector<web::write_result> kept;
    kept.swap(results_);
    write({number("press/a", 3)});
    let_things_happen();
    EXPECT_EQ(resumed_, 2);
    std::vector<std::int16_t> seen;
    for (const auto& each : sources_[1]->writes_received()) {
        std::int16_t value = 0;
        std::memcpy(&value, each.value.data(), sizeof value);
        seen.push_back(value);
    }
    EXPECT_EQ(seen, (std::vector<std::int16_t>{1, 2, 3}));
}

TEST_F(web_writes_test, every_outcome_of_the_device_is_told_as_it_is) {
    const auto outcome_of = [&](const write_outcome& outcome) {
        on(0, [&](test::fake_source& source) { source.answer_with(outcome); });
        write({number("mill/a", 1)});
        let_things_happen();
        return results_[0];
    };
    web::write_result got = outcome_of({.reason = reason_id::s7_address_out_of_range});
    EXPECT_EQ(got.ending, write_ending::answered);
    EXPECT_FALSE(got.ok());
    EXPECT_EQ(got.http_status, 502);
    got = outcome_of({.reason = reason_id::write_partly_written, .bytes_written = 20});
    EXPECT_EQ(got.ending, write_ending::partial);
    EXPECT_EQ(got.bytes_written, 20U);
    got = outcome_of({.reason = reason_id::write_outcome_unknown_timeout});
    EXPECT_EQ(got.ending, write_ending::unknown);
    EXPECT_EQ(got.http_status, 504);
    got = outcome_of({.reason = reason_id::write_not_sent});
    EXPECT_EQ(got.ending, write_ending::not_sent);
    EXPECT_EQ(got.http_status, 503);
    on(0, [](test::fake_source& source) { source.refuse_with(reason_id::busy); });
    write({number("mill/a", 1)});
    let_things_happen();
    EXPECT_EQ(results_[0].ending, write_ending::not_sent);
}

TEST_F(web_writes_test, at_the_deadline_what_was_sent_is_unknown) {
    on(1, [](test::fake_source& source) { source.hold(true); });
    write({number("press/a", 1), number("mill/a", 2)});
    let_things_happen();
    EXPECT_EQ(resumed_, 0);
    advance(2100ms);
    EXPECT_EQ(resumed_, 1);
    EXPECT_EQ(results_[0].ending, write_ending::unknown);
    EXPECT_TRUE(results_[1].ok());
    // The device answers after all: nobody is told again, and the place is free again.
    on(1, [](test::fake_source& source) { source.hold(false); });
    let_things_happen();
    EXPECT_EQ(resumed_, 1);
    EXPECT_EQ(results_[0].ending, write_ending::unknown);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(write({number("press/a", 1)}), web::outcome::deferred);
        let_things_happen();
    }
}

// The source has taken both, and keeps the second back until the first has ended.
TEST_F(web_writes_test, at_the_deadline_what_waits_in_the_source_is_not_sent) {
    on(1, [](test::fake_source& source) { source.hold(true); });
    write({number("press/a", 1), number("press/a", 2)});
    let_things_happen();
    advance(2100ms);
    EXPECT_EQ(resumed_, 1);
    EXPECT_EQ(results_[0].ending, write_ending::unknown);
    EXPECT_EQ(results_[1].ending, write_ending::not_sent);
    on(1, [](test::fake_source& source) { source.hold(false); });
    let_things_happen();
    EXPECT_EQ(sources_[1]->writes_received().size(), 1U) << "nor later";
    EXPECT_EQ(writes_->counts().not_sent, 1U);
    EXPECT_EQ(writes_->counts().unknown, 1U);
}

TEST_F(web_writes_test, an_asker_that_leaves_is_not_touched_and_its_writes_go_on) {
    on(1, [](test::fake_source& source) { source.hold(true); });
    write({number("press/a", 7)});
    writes_->abandon(*this, {1, 1});
    results_.clear();
    results_.shrink_to_fit();
    on(1, [](test::fake_source& source) { source.hold(false); });
    let_things_happen();
    EXPECT_EQ(resumed_, 0);
    EXPECT_EQ(sources_[1]->writes_received().size(), 1U);
    EXPECT_EQ(writes_->counts().accepted, 1U);
}

TEST_F(web_writes_test, requests_and_their_values_are_bounded) {
    on(1, [](test::fake_source& source) { source.hold(true); });
    std::vector<web::write_result> kept[2];
    for (auto& results : kept) {
        EXPECT_EQ(write({number("press/a", 1)}), web::outcome::deferred);
        results.swap(results_);
    }
    EXPECT_EQ(write({number("press/a", 1)}), web::outcome::busy);
    on(1, [](test::fake_source& source) { source.hold(false); });
    let_things_happen();
    std::vector<wanted> many(9, number("mill/a", 1));
    EXPECT_EQ(write(many), web::outcome::deferred);
    let_things_happen();
    EXPECT_TRUE(results_[7].ok());
    EXPECT_EQ(results_[8].ending, write_ending::rejected);
}

}  // namespace
}  // namespace tagferry::gateway
