// Writes of the OPC UA server on their way to sources on several shards, all driven by hand.
#include "gateway/expose/opcua/writes.hpp"
#include "gateway/sources/s7/s7_types.hpp"
#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "tests/support/gateway/fake_source.hpp"
#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;
namespace status = opcua::status;

/// No outcome has this value.
constexpr opcua::status_code untouched = 0xDEADBEEF;

/// One request with everything it names.
struct wanted {
    std::vector<std::vector<std::byte>> memory{};
    std::vector<opcua::write_item> items{};
    std::vector<opcua::status_code> outcomes{};
};

class opcua_writes_test : public testing::Test,
                          public model_access,
                          public transport::completion_sink {
  public:
    static constexpr std::size_t request_limit = 3;

    opcua_writes_test() {
        // `mill` lives on the asking shard, as everything does when there is only one.
        const std::array<const char*, 3> names = {"mill", "press", "oven"};
        for (const char* const name : names) {
            config::connection& made = configuration_.connections.emplace_back();
            made.name = name;
            made.scan_classes = {{"fast", 100, {}}};
            add_tag(made, "a", "INT", true);
            add_tag(made, "b", "INT", true);
            add_tag(made, "text", "STRING[4]", true);
            add_tag(made, "row", "ARRAY[0..2] OF INT", true);
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
        opcua_write_limits limits;
        limits.requests = request_limit;
        limits.items_per_request = 100;
        limits.connections_per_request = 2;
        writes_ = std::make_unique<opcua_writes>(shards_[0], *this, directory_, limits);
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
    void resume(transport::completion_token token, std::uint32_t result,
                transport::time_point) override {
        EXPECT_FALSE(calling_) << "resumed on the caller's stack";
        EXPECT_EQ(result, 0u);
        ++resumed_[token.index];
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
    opcua::tag_handle tag(const std::string& path) const {
        const tag_handle found = model_->tags()[model_->find(path)->item].handle;
        return {found.index, found.generation};
    }
    void want(wanted& in, opcua::tag_handle to, opcua::builtin_type type,
              std::vector<std::byte> bytes, std::int32_t array_length = -1,
              opcua::element_range range = {}) const {
        in.memory.push_back(std::move(bytes));
        in.items.push_back({to, {type, array_length, in.memory.back()}, range});
        in.outcomes.push_back(untouched);
    }
    void want(wanted& in, const std::string& path, std::int16_t number) const {
        std::vector<std::byte> bytes(sizeof number);
        std::memcpy(bytes.data(), &number, sizeof number);
        want(in, tag(path), opcua::builtin_type::int16, std::move(bytes));
    }
    void want(wanted& in, const std::string& path, const std::string& text) const {
        const auto size = static_cast<std::uint16_t>(text.size());
        std::vector<std::byte> bytes(sizeof size + size);
        std::memcpy(bytes.data(), &size, sizeof size);
        std::memcpy(bytes.data() + sizeof size, text.data(), size);
        want(in, tag(path), opcua::builtin_type::string, std::move(bytes));
    }
    /// @param number comes back as the token's index.
    bool begin(wanted& what, std::uint32_t number,
               transport::time_point deadline = transport::time_point::max()) {
        const transport::turn_scope turn(shards_[0]);
        const opcua::call call{nobody_, deadline, {number, 1}, this};
        calling_ = true;
        const bool begun = writes_->start_write(call, what.items, what.outcomes);
        calling_ = false;
        return begun;
    }
    /// What reached the device, as numbers.
    std::vector<std::int16_t> received(std::size_t where) const {
        std::vector<std::int16_t> seen;
        for (const auto& each : sources_[where]->writes_received()) {
            std::memcpy(&seen.emplace_back(), each.value.data(), sizeof(std::int16_t));
        }
        return seen;
    }
    using codes = std::vector<opcua::status_code>;
    using numbers = std::vector<std::int16_t>;

    transport::manual_clock clock_;
    std::array<transport::shard, 3> shards_{transport::shard{{"zero", 0}, clock_},
                                            transport::shard{{"one", 1}, clock_},
                                            transport::shard{{"two", 2}, clock_}};
    tag_table table_;
    model_builder builder_{table_};
    config::configuration configuration_;
    std::unique_ptr<const tag_model> model_;
    source_directory directory_;
    std::array<std::unique_ptr<test::fake_source>, 3> sources_;
    std::unique_ptr<opcua_writes> writes_;
    opcua::actor nobody_;
    bool calling_ = false;
    std::map<std::uint32_t, int> resumed_;
};

TEST_F(opcua_writes_test, an_accepted_write_reaches_the_device_in_slot_form) {
    wanted what;
    want(what, "press/a", 5);
    want(what, "press/text", std::string("hi"));
    ASSERT_TRUE(begin(what, 1));
    let_things_happen();
    EXPECT_EQ(what.outcomes, (codes{status::good, status::good}));
    EXPECT_EQ(resumed_, (std::map<std::uint32_t, int>{{1, 1}}));
    const auto& sent = sources_[1]->writes_received();
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(received(1)[0], 5);
    EXPECT_EQ(sent[1].value.size(), table_.value_size(sent[1].tag));
    EXPECT_EQ(sent[1].value[0], std::byte{2});
    EXPECT_EQ(sent[1].value[2], std::byte{'h'});
    EXPECT_EQ(sent[1].value[4], std::byte{0}) << "the rest of the slot is empty";
}

TEST_F(opcua_writes_test, a_part_of_an_array_names_its_elements) {
    wanted what;
    want(what, tag("press/row"), opcua::builtin_type::int16, {std::byte{7}, std::byte{0}}, 1,
         {1, 1});
    ASSERT_TRUE(begin(what, 1));
    let_things_happen();
    EXPECT_EQ(what.outcomes, (codes{status::good}));
    const auto& sent = sources_[1]->writes_received();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].first_element, 1u);
    EXPECT_EQ(sent[0].elements, 1u);
    EXPECT_EQ(sent[0].value, (std::vector<std::byte>{std::byte{7}, std::byte{0}}));
}

TEST_F(opcua_writes_test, what_cannot_be_written_is_refused_and_never_sent) {
    wanted what;
    want(what, "press/fixed", 1);
    want(what, tag("press/a"), opcua::builtin_type::int32, std::vector<std::byte>(4));
    want(what, tag("press/a"), opcua::builtin_type::int16, std::vector<std::byte>(4), 2);
    want(what, tag("press/a"), opcua::builtin_type::int16, std::vector<std::byte>(3));
    want(what, "press/text", std::string("thirteen byte"));
    want(what, tag("press/text"), opcua::builtin_type::string, {std::byte{9}, std::byte{0}});
    want(what, tag("press/row"), opcua::builtin_type::int16, std::vector<std::byte>(2), 1,
         {1, 1'000});
    want(what, tag("press/row"), opcua::builtin_type::int16, std::vector<std::byte>(2), 1, {1, 2});
    want(what, {tag("press/a").index, tag("press/a").generation + 2}, opcua::builtin_type::int16,
         std::vector<std::byte>(2));
    ASSERT_TRUE(begin(what, 1));
    let_things_happen();
    EXPECT_EQ(
        what.outcomes,
        (codes{status::bad_not_writable, status::bad_type_mismatch, status::bad_type_mismatch,
               status::bad_type_mismatch, status::bad_out_of_range, status::bad_out_of_range,
               status::bad_out_of_range, status::bad_type_mismatch, status::bad_node_id_unknown}));
    EXPECT_EQ(resumed_[1], 1);
    EXPECT_TRUE(sources_[1]->writes_received().empty());
}

TEST_F(opcua_writes_test, what_the_source_and_the_device_say_is_the_outcome) {
    const auto outcome_of = [this](reason_id refusal, const write_outcome& answer) {
        on(1, [&](test::fake_source& source) {
            source.refuse_with(refusal);
            source.answer_with(answer);
        });
        wanted what;
        want(what, "press/a", 5);
        EXPECT_TRUE(begin(what, 1));
        let_things_happen();
        return what.outcomes[0];
    };
    const write_outcome accepted{reason_id::write_accepted, 0};
    EXPECT_EQ(outcome_of(reason_id::write_out_of_range, accepted), status::bad_out_of_range);
    EXPECT_EQ(outcome_of(reason_id::busy, accepted), status::bad_resource_unavailable);
    EXPECT_EQ(outcome_of(reason_id::none, {reason_id::s7_object_missing, 0}),
              status::bad_not_found);
    EXPECT_EQ(outcome_of(reason_id::none, {reason_id::write_partly_written, 2}),
              status::bad_communication_error);
    EXPECT_EQ(outcome_of(reason_id::none, {reason_id::write_outcome_unknown_timeout, 0}),
              status::bad_timeout);
    EXPECT_EQ(outcome_of(reason_id::none, accepted), status::good);
    EXPECT_EQ(resumed_[1], 6);
}

TEST_F(opcua_writes_test, a_link_that_is_down_or_breaks_is_told_apart) {
    on(1, [](test::fake_source& source) { source.hold(true); });
    wanted what;
    want(what, "press/a", 1);
    want(what, "press/a", 2);
    ASSERT_TRUE(begin(what, 1));
    let_things_happen();
    EXPECT_EQ(resumed_[1], 0);
    on(1, [](test::fake_source& source) { source.set_reachable(false); });
    let_things_happen();
    EXPECT_EQ(what.outcomes, (codes{status::bad_communication_error, status::bad_no_communication}))
        << "the first was sent, the second was not";
    EXPECT_EQ(resumed_[1], 1);
    on(1, [](test::fake_source& source) {
        source.hold(false);
        source.set_reachable(true);
    });
    let_things_happen();
    EXPECT_EQ(received(1), (numbers{1})) << "nothing unsent is replayed";
    EXPECT_EQ(resumed_[1], 1);
}

TEST_F(opcua_writes_test, at_the_deadline_the_asker_is_told_and_nothing_more_is_sent) {
    on(1, [](test::fake_source& source) { source.hold(true); });
    wanted what;
    want(what, "mill/a", 7);
    want(what, "press/a", 1);
    want(what, "press/a", 2);
    ASSERT_TRUE(begin(what, 1, clock_.now() + 500ms));
    let_things_happen();
    advance(400ms);
    EXPECT_EQ(resumed_[1], 0);
    advance(200ms);
    EXPECT_EQ(resumed_[1], 1);
    EXPECT_EQ(what.outcomes, (codes{status::good, status::bad_timeout, status::bad_timeout}));
    what.outcomes.assign(3, untouched);
    what.items.clear();
    on(1, [](test::fake_source& source) { source.hold(false); });
    advance(1s);
    EXPECT_EQ(received(1), (numbers{1}));
    EXPECT_EQ(what.outcomes, (codes{untouched, untouched, untouched}));
    EXPECT_EQ(resumed_[1], 1);
}

TEST_F(opcua_writes_test, a_deadline_passes_before_the_source_has_heard_of_it) {
    wanted what;
    want(what, "press/a", 1);
    ASSERT_TRUE(begin(what, 1, clock_.now() + 100ms));
    clock_.advance(300ms);
    shards_[0].wake();
    for (int i = 0; i < 5; ++i) {
        shards_[0].poll_here();
    }
    EXPECT_EQ(resumed_[1], 1);
    EXPECT_EQ(what.outcomes, (codes{status::bad_timeout}));
    let_things_happen();
    EXPECT_TRUE(sources_[1]->writes_received().empty());
    EXPECT_EQ(resumed_[1], 1);

    wanted late;
    want(late, "press/a", 1);
    ASSERT_TRUE(begin(late, 2, clock_.now() - 1ms));
    let_things_happen();
    EXPECT_EQ(late.outcomes, (codes{status::bad_timeout}));
    EXPECT_TRUE(sources_[1]->writes_received().empty());
    EXPECT_EQ(resumed_[2], 1);
}

TEST_F(opcua_writes_test, connections_on_several_shards_answer_each_for_their_own) {
    on(1, [](test::fake_source& source) { source.hold(true); });
    on(2, [](test::fake_source& source) { source.answer_with({reason_id::s7_not_writable, 0}); });
    wanted what;
    want(what, "oven/a", 1);
    want(what, "press/a", 2);
    want(what, "oven/fixed", 3);
    want(what, "oven/b", 4);
    want(what, "press/b", 5);
    ASSERT_TRUE(begin(what, 1));
    let_things_happen();
    EXPECT_EQ(resumed_[1], 0) << "one connection is still at it";
    EXPECT_EQ(received(2), (numbers{1, 4}));
    on(1, [](test::fake_source& source) { source.hold(false); });
    let_things_happen();
    EXPECT_EQ(resumed_[1], 1);
    EXPECT_EQ(received(1), (numbers{2, 5}));
    EXPECT_EQ(what.outcomes,
              (codes{status::bad_not_writable, status::good, status::bad_not_writable,
                     status::bad_not_writable, status::good}));
}

TEST_F(opcua_writes_test, writes_of_a_tag_keep_their_order) {
    wanted first;
    for (std::int16_t i = 1; i <= 5; ++i) {
        want(first, i % 2 == 0 ? "press/b" : "press/a", i);
    }
    on(1, [](test::fake_source& source) { source.hold(true); });
    ASSERT_TRUE(begin(first, 1));
    let_things_happen();
    EXPECT_EQ(received(1), (numbers{1, 2})) << "a device may execute two in flight in any order";
    on(1, [](test::fake_source& source) { source.hold(false); });
    let_things_happen();
    EXPECT_EQ(received(1), (numbers{1, 2, 3, 4, 5}));
    EXPECT_EQ(resumed_[1], 1);
}

TEST_F(opcua_writes_test, writes_of_a_tag_keep_the_order_of_their_requests) {
    on(1, [](test::fake_source& source) { source.hold(true); });
    wanted first;
    want(first, "press/a", 1);
    want(first, "press/b", 2);
    wanted second;
    want(second, "press/b", 3);
    want(second, "press/a", 4);
    wanted third;
    want(third, "press/row", 5);
    third.memory[0].resize(6);
    third.items[0].value.array_length = 3;
    third.items[0].value.bytes = third.memory[0];
    ASSERT_TRUE(begin(first, 1));
    ASSERT_TRUE(begin(second, 2));
    ASSERT_TRUE(begin(third, 3));
    let_things_happen();
    EXPECT_EQ(received(1), (numbers{1, 2, 5})) << "another tag does not wait";
    on(1, [](test::fake_source& source) { source.hold(false); });
    let_things_happen();
    EXPECT_EQ(received(1), (numbers{1, 2, 5, 3, 4}));
    EXPECT_EQ(resumed_, (std::map<std::uint32_t, int>{{1, 1}, {2, 1}, {3, 1}}));
}

TEST_F(opcua_writes_test, a_write_that_waits_for_another_has_its_own_deadline) {
    on(1, [](test::fake_source& source) { source.hold(true); });
    wanted first;
    want(first, "press/a", 1);
    wanted second;
    want(second, "press/a", 2);
    want(second, "press/b", 3);
    ASSERT_TRUE(begin(first, 1));
    ASSERT_TRUE(begin(second, 2, clock_.now() + 100ms));
    let_things_happen();
    advance(200ms);
    EXPECT_EQ(resumed_, (std::map<std::uint32_t, int>{{2, 1}}));
    EXPECT_EQ(second.outcomes, (codes{status::bad_timeout, status::bad_timeout}));
    second = {};
    wanted third;
    want(third, "press/a", 4);
    ASSERT_TRUE(begin(third, 3));
    on(1, [](test::fake_source& source) { source.hold(false); });
    let_things_happen();
    EXPECT_EQ(received(1), (numbers{1, 3, 4}));
    EXPECT_EQ(first.outcomes, (codes{status::good}));
    EXPECT_EQ(third.outcomes, (codes{status::good}));
    EXPECT_EQ(resumed_, (std::map<std::uint32_t, int>{{1, 1}, {2, 1}, {3, 1}}));
}

TEST_F(opcua_writes_test, limits_refuse_and_nothing_is_resumed) {
    on(1, [](test::fake_source& source) { source.hold(true); });
    std::array<wanted, request_limit + 1> all;
    for (std::uint32_t i = 0; i <= request_limit; ++i) {
        want(all[i], "press/a", static_cast<std::int16_t>(i));
        EXPECT_EQ(begin(all[i], i), i < request_limit);
    }
    on(1, [](test::fake_source& source) { source.hold(false); });
    let_things_happen();
    EXPECT_EQ(resumed_, (std::map<std::uint32_t, int>{{0, 1}, {1, 1}, {2, 1}}));
    EXPECT_EQ(all[request_limit].outcomes[0], untouched);

    wanted wide;
    want(wide, "mill/a", 1);
    want(wide, "press/a", 1);
    want(wide, "oven/a", 1);
    EXPECT_FALSE(begin(wide, 7)) << "too many connections";
    wanted longest;
    for (int i = 0; i < 101; ++i) {
        want(longest, "mill/a", 1);
    }
    EXPECT_FALSE(begin(longest, 8));
    let_things_happen();
    EXPECT_FALSE(resumed_.contains(7));
    EXPECT_FALSE(resumed_.contains(8));
    EXPECT_TRUE(received(0).empty());

    wanted nothing;
    EXPECT_TRUE(begin(nothing, 9));
    let_things_happen();
    EXPECT_EQ(resumed_[9], 1);
}

TEST_F(opcua_writes_test, a_source_that_stops_ends_what_it_has) {
    on(2, [](test::fake_source& source) { source.hold(true); });
    wanted what;
    want(what, "oven/a", 1);
    want(what, "oven/a", 2);
    ASSERT_TRUE(begin(what, 1));
    let_things_happen();
    on(2, [](test::fake_source& source) { source.stop(); });
    let_things_happen();
    EXPECT_EQ(what.outcomes[0], status::bad_communication_error);
    EXPECT_TRUE(opcua::is_bad(what.outcomes[1]));
    EXPECT_EQ(received(2), (numbers{1}));
    EXPECT_EQ(resumed_[1], 1);
}

/// Every shard on its own thread, deadlines that pass now and then: each request is resumed once,
/// and its memory is not touched afterwards, which sanitizers see.
TEST_F(opcua_writes_test, threads_and_deadlines_meet) {
    constexpr std::uint32_t rounds = 400;
    struct asker final : transport::completion_sink, transport::next_turn_participant {
        explicit asker(opcua_writes_test& rig) : test(rig) {}
        void resume(transport::completion_token token, std::uint32_t,
                    transport::time_point now) override {
            EXPECT_EQ(token.index, begun);
            for (const opcua::status_code each : what->outcomes) {
                EXPECT_NE(each, untouched);
            }
            what.reset();
            ++resumed;
            if (begun < rounds) {
                next_turn(now);
            }
        }
        void next_turn(transport::time_point now) override {
            what = std::make_unique<wanted>();
            for (std::int16_t i = 0; i < 6; ++i) {
                test.want(*what, i % 2 == 0 ? "press/a" : "oven/a", i);
            }
            const bool short_of_time = begun % 2 == 0;
            const auto deadline = short_of_time ? now : transport::time_point::max();
            const opcua::call call{test.nobody_, deadline, {begun + 1, 1}, this};
            if (test.writes_->start_write(call, what->items, what->outcomes)) {
                ++begun;
            } else {
                test.shards_[0].at_next_turn(*this);
            }
        }
        opcua_writes_test& test;
        std::unique_ptr<wanted> what{};
        std::uint32_t begun = 0;
        std::atomic<std::uint32_t> resumed{0};
    };
    std::array<asker, 4> askers{asker{*this}, asker{*this}, asker{*this}, asker{*this}};
    for (transport::shard& each : shards_) {
        each.start();
    }
    for (asker& each : askers) {
        ASSERT_TRUE(shards_[0].post({[](void* object, std::uint64_t, std::uint64_t) {
                                         auto& me = *static_cast<asker*>(object);
                                         me.next_turn(me.test.clock_.now());
                                     },
                                     &each, 0, 0}));
    }
    const auto done = [&askers] {
        return std::ranges::all_of(askers,
                                   [](const asker& each) { return each.resumed >= rounds; });
    };
    for (int tries = 0; tries < 5'000 && !done(); ++tries) {
        clock_.advance(1ms);
        for (transport::shard& each : shards_) {
            each.wake();
        }
        std::this_thread::sleep_for(1ms);
    }
    for (transport::shard& each : shards_) {
        each.stop();
    }
    for (transport::shard& each : shards_) {
        each.join();
    }
    for (const asker& each : askers) {
        EXPECT_EQ(each.resumed, rounds);
    }
}

}  // namespace
}  // namespace tagferry::gateway
