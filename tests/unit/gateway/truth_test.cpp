// The truth: whatever a PLC of any family does wrong, each Good sample was sent by it for that tag,
// no value goes back, source timestamps lie between reply and publication, and what is said of a
// write agrees with the PLC's memory. Over every profile and every fault of the simulator, on a
// clock moved by hand; and once on the machine's clock.
#include "gateway/simulation/simulated_station.hpp"
#include "gateway/sources/s7/s7_source.hpp"
#include "gateway/sources/s7/s7_types.hpp"
#include "gateway/tags/tag_feed.hpp"
#include "protocols/s7/simulator/fault_script.hpp"
#include "protocols/s7/simulator/observer.hpp"
#include "protocols/s7/simulator/tagged_value.hpp"
#include "protocols/s7/types/codec.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/worker_pool.hpp"
#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t written_block = 3;

struct read_tag {
    const char* path;
    const char* address;
    const char* type;
    int period_ms;  // long enough that its counter does not start again
    std::size_t scan_class;
};
constexpr std::array read_tags = {
    read_tag{"int", "DB1.DBW0", "INT", 40, 0},
    read_tag{"dint", "DB1.DBD2", "DINT", 23, 0},
    read_tag{"byte", "DB1.DBB6", "BYTE", 900, 0},
    read_tag{"real", "DB1.DBD10", "REAL", 31, 0},
    read_tag{"row", "DB1.DBW20", "ARRAY[0..199] OF INT", 50, 0},
    read_tag{"far", "DB1.DBD1800", "UDINT", 20, 0},
    read_tag{"lreal", "DB2.DBB0", "LREAL", 17, 1},
    read_tag{"text", "DB2.DBB8", "STRING[20]", 60, 1},
    read_tag{"texts", "DB2.DBB40", "ARRAY[0..29] OF STRING[10]", 70, 1},
    read_tag{"lint", "MB100", "LINT", 13, 1},
    read_tag{"input", "IW4", "UINT", 45, 1},
    read_tag{"output", "QD8", "DWORD", 29, 1},
};

struct written_tag {
    const char* path;
    std::uint32_t start;
    const char* type;
};
constexpr std::array written_tags = {
    written_tag{"w_int", 0, "INT"},
    written_tag{"w_dint", 2, "DINT"},
    written_tag{"w_row", 10, "ARRAY[0..299] OF INT"},
    written_tag{"w_text", 700, "STRING[30]"},
    written_tag{"w_texts", 740, "ARRAY[0..24] OF STRING[8]"},
};

s7::data_type type_of(const char* text) {
    s7::data_type type;
    EXPECT_FALSE(s7::parse_data_type(text, type)) << text;
    return type;
}

s7::address address_of(const std::string& text) {
    s7::address where;
    EXPECT_FALSE(s7::parse_address(text, where)) << text;
    return where;
}

/// The tagged values in a slot, one an element; nothing for a text that is none.
std::vector<std::optional<s7::tagged_value>> tagged_in(const s7::data_type& type,
                                                       std::span<const std::byte> slot) {
    std::vector<std::optional<s7::tagged_value>> found;
    const std::size_t size = s7::slot_element_size(type);
    for (std::size_t i = 0; i < type.elements; ++i) {
        const std::byte* const at = slot.data() + i * size;
        if (type.base == s7::base_type::string) {
            std::uint16_t length = 0;
            std::memcpy(&length, at, sizeof length);
            found.push_back(
                s7::split_tagged_text({reinterpret_cast<const char*>(at + sizeof length), length}));
        } else if (type.base == s7::base_type::real) {
            float value = 0;
            std::memcpy(&value, at, sizeof value);
            found.emplace_back(s7::split_tagged(type.base, static_cast<std::uint64_t>(value)));
        } else if (type.base == s7::base_type::long_real) {
            double value = 0;
            std::memcpy(&value, at, sizeof value);
            found.emplace_back(s7::split_tagged(type.base, static_cast<std::uint64_t>(value)));
        } else {
            std::uint64_t bits = 0;
            std::memcpy(&bits, at, size);
            found.emplace_back(s7::split_tagged(type.base, bits));
        }
    }
    return found;
}

/// What the PLC sent of one element: each counter, and when it was read first.
using sent_counters = std::map<std::uint64_t, transport::time_point>;

struct watched_tag {
    std::string path{};
    s7::address where{};
    s7::data_type type{};
    std::uint32_t number = 0;
    tag_handle handle{};
    std::vector<sent_counters> sent{};        // by element
    std::vector<std::uint64_t> shown{};       // highest counter published, by element
    transport::wall_time_ns last_source = 0;  // of a Good sample
    std::uint64_t good = 0;
};

struct issued_write {
    std::size_t tag = 0;
    std::vector<std::byte> before{};  // of the PLC's bytes
    std::vector<std::byte> after{};
    std::optional<write_outcome> outcome{};
};

struct totals {
    std::uint64_t good = 0;
    std::uint64_t elements = 0;
    std::uint64_t uncertain = 0;
    std::uint64_t bad = 0;
    std::uint64_t accepted = 0;
    std::uint64_t not_sent = 0;
    std::uint64_t unknown = 0;
    std::uint64_t partial = 0;
    std::uint64_t refused = 0;

    totals& operator+=(const totals& more) {
        good += more.good;
        elements += more.elements;
        uncertain += more.uncertain;
        bad += more.bad;
        accepted += more.accepted;
        not_sent += more.not_sent;
        unknown += more.unknown;
        partial += more.partial;
        refused += more.refused;
        return *this;
    }
};

std::ostream& operator<<(std::ostream& out, const totals& all) {
    return out << all.good << " good samples (" << all.elements << " values), " << all.uncertain
               << " uncertain, " << all.bad << " bad; writes: " << all.accepted << " accepted, "
               << all.refused << " refused, " << all.not_sent << " not sent, " << all.unknown
               << " unknown, " << all.partial << " in part";
}

s7::simulator_config plc_of(const std::string& profile) {
    s7::simulator_config made;
    made.profile = profile;
    made.data_blocks = {{1, 2'000}, {2, 500}, {written_block, 1'000}};
    made.latency = 3ms;
    for (std::uint32_t i = 0; i < read_tags.size(); ++i) {
        s7::signal_config signal;
        signal.where = address_of(read_tags[i].address);
        signal.type = type_of(read_tags[i].type);
        signal.kind = s7::signal_kind::tagged;
        signal.period = std::chrono::milliseconds(read_tags[i].period_ms);
        signal.number = i + 1;
        made.signals.push_back(signal);
    }
    return made;
}

/// A PLC with faults, the source that reads and writes it, and the judge of both, on one shard.
class witness final : s7::simulator_observer, write_listener {
  public:
    witness(const transport::clock& clock, const std::string& profile,
            std::span<const s7::scripted_fault> script)
        : clock_(clock),
          shard_({"truth"}, clock),
          station_(std::in_place, shard_, plc_of(profile), std::uint16_t{0}, script) {
        station_->plc().observe(this);
        for (const written_tag& each : written_tags) {
            begin_texts(each);
        }
        station_->start();
        configure();
        source_.emplace(shard_, workers_, pool_, table_, model_->connections()[0].owner, options());
        feed_.emplace(tag_feed_options{table_.limits().tags, 1, 4U << 20U, {}});
        const auto number = table_.add_feed(*feed_);
        for (const watched_tag& each : watched_) {
            EXPECT_TRUE(table_.watch(each.handle, *number, interest::queued_samples));
        }
        const transport::turn_scope turn(shard_);
        source_->apply(*model_, model_->connections()[0]);
        source_->start();
    }
    ~witness() {
        source_.reset();
        station_.reset();
        shard_.poll_here();
    }

    /// After the clock was moved, or some time has passed.
    void look() {
        shard_.wake();
        for (int idle = 0; idle < 2;) {
            idle = shard_.poll_here() <= 1 ? idle + 1 : 0;  // its own turn is one
        }
        judge_samples();
        write_now_and_then();
    }
    /// Everything ends, and what was said of each write still holds.
    template <typename Pass>
    void finish(Pass&& pass) {
        {
            const transport::turn_scope turn(shard_);
            source_->stop();
        }
        for (int i = 0; i < 5'000 && !source_->stopped(); ++i) {
            pass();
            shard_.wake();
            shard_.poll_here();
        }
        EXPECT_TRUE(source_->stopped());
        judge_samples();
        for (std::size_t i = 0; i < issued_.size(); ++i) {
            ASSERT_TRUE(issued_[i].outcome) << "a write without an outcome";
            if (issued_[i].outcome->reason == reason_id::write_not_sent) {
                EXPECT_FALSE(ever_written_.contains(i)) << "said to be not sent";
            }
        }
        EXPECT_EQ(feed_->lost_samples(), 0u);
    }

    const totals& all() const { return totals_; }
    const std::vector<watched_tag>& watched() const { return watched_; }
    std::uint64_t hits(s7::fault_kind kind) const { return station_->script().hits(kind); }

  private:
    void begin_texts(const written_tag& tag) {
        const s7::data_type type = type_of(tag.type);
        for (std::size_t i = 0; type.base == s7::base_type::string && i < type.elements; ++i) {
            memory()[tag.start + i * s7::plc_element_stride(type)] = std::byte{type.string_length};
        }
    }

    void configure() {
        auto& connection = configuration_.connections.emplace_back();
        connection.name = "plc";
        connection.host = "127.0.0.1";
        connection.port = station_->port();
        connection.scan_classes = {{"fast", 40, {}}, {"slow", 100, {}}};
        connection.job_timeout_ms = 500;
        connection.connect_timeout_ms = 500;
        connection.back_off_ms = {50, 200, {}};
        const auto add = [&](std::string path, std::string address, std::string type) {
            config::tag tag;
            tag.path = std::move(path);
            tag.address = std::move(address);
            tag.type = std::move(type);
            tag.stale_after_ms = 300;
            connection.tags.push_back(std::move(tag));
        };
        for (const read_tag& each : read_tags) {
            add(each.path, each.address, each.type);
            connection.tags.back().scan_class = static_cast<std::uint32_t>(each.scan_class);
        }
        for (const written_tag& each : written_tags) {
            add(each.path, "DB3.DBB" + std::to_string(each.start), each.type);
            connection.tags.back().writable = true;
        }
        std::vector<model_error> errors;
        model_ = builder_.build(configuration_, &read_s7_type, errors);
        ASSERT_TRUE(errors.empty()) << errors.front().text;
        for (std::uint32_t i = 0; i < read_tags.size(); ++i) {
            watched_tag made;
            made.path = std::string("plc/") + read_tags[i].path;
            made.where = address_of(read_tags[i].address);
            made.type = type_of(read_tags[i].type);
            made.number = i + 1;
            made.handle = handle_of(made.path);
            made.sent.resize(made.type.elements);
            made.shown.resize(made.type.elements);
            watched_.push_back(std::move(made));
        }
    }
    s7_source_options options() {
        s7_source_options made =
            s7_options_of(model_->connections()[0].settings, configuration_.limits, traffic_);
        made.link.back_off_seed = 7;
        return made;
    }
    tag_handle handle_of(const std::string& path) const {
        const model_node* const node = model_->find(path);
        return node == nullptr ? tag_handle{} : model_->tags()[node->item].handle;
    }
    std::span<std::byte> memory() {
        return station_->plc().memory().bytes(s7::area::data_block, written_block);
    }
    transport::wall_time_ns wall_of(transport::time_point when) const {
        return clock_.wall_now() - std::chrono::nanoseconds(clock_.now() - when).count();
    }

    // What the PLC does.

    void item_read(const s7::variable& item, std::span<const std::byte> bytes,
                   transport::time_point now) override {
        for (watched_tag& tag : watched_) {
            if (static_cast<s7::area>(item.area_code) == tag.where.where &&
                item.block == tag.where.block) {
                note_elements(tag, item.start_byte(), bytes, now);
            }
        }
    }
    static void note_elements(watched_tag& tag, std::uint32_t start,
                              std::span<const std::byte> bytes, transport::time_point now) {
        s7::data_type one = tag.type;
        one.array = false;
        one.elements = 1;
        const std::size_t size = s7::plc_element_size(one);
        std::vector<std::byte> slot(s7::slot_size(one));
        for (std::size_t i = 0; i < tag.type.elements; ++i) {
            const std::size_t at = tag.where.byte + i * s7::plc_element_stride(tag.type);
            if (at < start || at + size > start + bytes.size()) {
                continue;
            }
            s7::decode_value(one, 0, bytes.subspan(at - start, size), slot);
            const auto value = tagged_in(one, slot).front();
            ASSERT_TRUE(value);
            tag.sent[i].try_emplace(value->counter, now);
        }
    }
    void item_written(const s7::variable& item, std::span<const std::byte> bytes,
                      transport::time_point) override {
        for (std::size_t i = issued_.size(); i-- > 0;) {
            const issued_write& write = issued_[i];
            const std::uint32_t start = written_tags[write.tag].start;
            if (item.block == written_block && item.start_byte() >= start &&
                item.start_byte() < start + write.after.size()) {
                EXPECT_FALSE(write.outcome) << "a write is carried out after its outcome";
                const auto meant = std::span(write.after).subspan(item.start_byte() - start);
                EXPECT_TRUE(std::ranges::equal(bytes, meant.first(bytes.size())));
                ever_written_[i] += bytes.size();
                return;
            }
        }
    }

    // What the gateway says.

    void judge_samples() {
        feed_->begin();
        feed_->peek_samples(1'000'000, [this](const queued_sample& sample) {
            const auto tag = std::ranges::find(watched_, sample.handle, &watched_tag::handle);
            ASSERT_NE(tag, watched_.end());
            switch (quality_of(sample.status)) {
                case quality::good:
                    judge_good(*tag, sample);
                    break;
                case quality::uncertain:
                    ++totals_.uncertain;
                    break;
                case quality::bad:
                    EXPECT_TRUE(sample.value.empty());
                    ++totals_.bad;
                    break;
            }
        });
        feed_->release_samples();
    }
    void judge_good(watched_tag& tag, const queued_sample& sample) {
        ++totals_.good;
        ++tag.good;
        EXPECT_LE(sample.source_time, sample.update_time) << tag.path;
        EXPECT_LE(sample.update_time, clock_.wall_now()) << tag.path;
        EXPECT_GE(sample.source_time, tag.last_source) << tag.path;
        tag.last_source = sample.source_time;
        const auto values = tagged_in(tag.type, sample.value);
        for (std::size_t i = 0; i < values.size(); ++i) {
            ++totals_.elements;
            ASSERT_TRUE(values[i]) << tag.path;
            ASSERT_EQ(values[i]->number, number_of(tag, i)) << tag.path << " shows another tag";
            const auto sent = tag.sent[i].find(values[i]->counter);
            ASSERT_NE(sent, tag.sent[i].end()) << tag.path << " was never sent";
            EXPECT_GE(sample.source_time, wall_of(sent->second)) << tag.path;
            EXPECT_GE(values[i]->counter, tag.shown[i]) << tag.path << " goes back";
            tag.shown[i] = values[i]->counter;
        }
    }

    static std::uint64_t number_of(const watched_tag& tag, std::size_t element) {
        const std::uint64_t whole = tag.number + element;
        if (tag.type.base == s7::base_type::string) {
            return whole;
        }
        return whole % (std::uint64_t{1} << s7::tagged_bits_of(tag.type.base).number);
    }

    // Writes, one after the other for each tag.

    void write_now_and_then() {
        if (++looks_ % 9 != 0) {
            return;
        }
        const std::size_t tag = (looks_ / 9) % written_tags.size();
        if (busy_.contains(tag)) {
            return;
        }
        const s7::data_type type = type_of(written_tags[tag].type);
        const std::vector<std::byte> slot = next_value(type);
        issued_write made;
        made.tag = tag;
        const auto held = memory().subspan(written_tags[tag].start, s7::plc_size(type));
        made.before.assign(held.begin(), held.end());
        made.after = made.before;
        std::size_t used = 0;
        ASSERT_EQ(s7::encode_value(type, slot, made.after, used), s7::encode_result::good);
        issued_.push_back(std::move(made));
        busy_.insert(tag);
        const transport::turn_scope turn(shard_);
        const reason_id refused =
            source_->write({handle_of(std::string("plc/") + written_tags[tag].path), slot},
                           issued_.size() - 1, *this);
        if (refused != reason_id::none) {
            EXPECT_EQ(refused, reason_id::write_not_sent);
            write_finished(issued_.size() - 1, {refused});
        }
    }
    std::vector<std::byte> next_value(const s7::data_type& type) {
        ++fill_;
        std::vector<std::byte> slot(s7::slot_size(type));
        if (type.base != s7::base_type::string) {
            std::ranges::fill(slot, static_cast<std::byte>(fill_ % 250 + 1));
            return slot;
        }
        const std::uint16_t length = 3 + fill_ % 2;
        const std::size_t size = s7::slot_element_size(type);
        for (std::size_t i = 0; i < type.elements; ++i) {
            std::memcpy(slot.data() + i * size, &length, sizeof length);
            std::fill_n(slot.begin() + static_cast<std::ptrdiff_t>(i * size + sizeof length),
                        length, static_cast<std::byte>('A' + fill_ % 26));
        }
        return slot;
    }
    void write_finished(std::uint64_t ticket, const write_outcome& outcome) override {
        issued_write& write = issued_[ticket];
        ASSERT_FALSE(write.outcome) << "two outcomes";
        write.outcome = outcome;
        busy_.erase(write.tag);
        const auto held = memory().subspan(written_tags[write.tag].start, write.after.size());
        const bool is_there = std::ranges::equal(held, write.after);
        const bool is_as_before = std::ranges::equal(held, write.before);
        switch (outcome.reason) {
            case reason_id::write_accepted:
                ++totals_.accepted;
                EXPECT_TRUE(is_there);
                break;
            case reason_id::write_not_sent:
                ++totals_.not_sent;
                EXPECT_TRUE(is_as_before);
                break;
            case reason_id::write_partly_written:
                ++totals_.partial;
                EXPECT_EQ(ever_written_[ticket], outcome.bytes_written);
                check_mixture(write, held);
                EXPECT_GT(outcome.bytes_written, 0u);
                break;
            case reason_id::write_outcome_unknown_timeout:
            case reason_id::write_outcome_unknown_link_lost:
                ++totals_.unknown;
                EXPECT_GE(ever_written_[ticket], outcome.bytes_written);
                check_mixture(write, held);
                break;
            default:
                ++totals_.refused;
                EXPECT_TRUE(is_as_before) << describe(outcome.reason).words;
                break;
        }
    }
    static void check_mixture(const issued_write& write, std::span<const std::byte> held) {
        for (std::size_t i = 0; i < held.size(); ++i) {
            EXPECT_TRUE(held[i] == write.after[i] || held[i] == write.before[i]);
        }
    }

    const transport::clock& clock_;
    transport::shard shard_;
    transport::worker_pool workers_{{"worker"}};
    transport::pinned_pool pool_{{"s7", 967, 64}};
    transport::traffic traffic_{"s7"};
    std::optional<simulated_station> station_;
    tag_table table_;
    model_builder builder_{table_};
    config::configuration configuration_;
    std::unique_ptr<const tag_model> model_;
    std::vector<watched_tag> watched_;
    std::optional<tag_feed> feed_;
    std::optional<s7_source> source_;
    std::vector<issued_write> issued_;
    std::set<std::size_t> busy_;
    std::map<std::size_t, std::size_t> ever_written_;  // bytes, by issued write
    std::uint64_t looks_ = 0;
    std::uint64_t fill_ = 0;
    totals totals_;
};

class truth_test : public testing::TestWithParam<const char*> {};

TEST_P(truth_test, holds_under_every_fault) {
    totals of_profile;
    for (const s7::fault_description& fault : s7::fault_catalogue()) {
        SCOPED_TRACE(fault.name);
        transport::manual_clock clock;
        witness judge(clock, GetParam(), std::span(&fault.usual, 1));
        for (int step = 0; step < 2'500; ++step) {
            clock.advance(4ms);
            judge.look();
            ASSERT_FALSE(HasFatalFailure());
        }
        judge.finish([&] { clock.advance(4ms); });
        EXPECT_GT(judge.hits(fault.usual.kind), 0u) << "the fault never happened";
        for (const watched_tag& each : judge.watched()) {
            EXPECT_GT(each.good, 10u) << each.path << " " << each.good;
        }
        EXPECT_GT(judge.all().accepted, 10u);
        of_profile += judge.all();
    }
    std::cout << GetParam() << ": " << of_profile << "\n";
    EXPECT_GT(of_profile.bad, 0u);
    EXPECT_GT(of_profile.refused, 0u);
    EXPECT_GT(of_profile.not_sent, 0u);
    EXPECT_GT(of_profile.unknown, 0u);
    EXPECT_GT(of_profile.partial, 0u);
}
INSTANTIATE_TEST_SUITE_P(profiles, truth_test,
                         testing::Values("s7-300", "s7-400", "s7-1200", "s7-1500"),
                         [](const auto& tested) {
                             return "s7_" + std::string(tested.param).substr(3);
                         });

TEST(truth_test, holds_on_the_clock_of_the_machine) {
    std::vector<s7::scripted_fault> script;
    for (const char* const name : {"dropped_reply", "two_replies", "reset", "item_error"}) {
        script.push_back(s7::find_fault(name)->usual);
    }
    const transport::real_clock clock;
    witness judge(clock, "s7-1500", script);
    const auto end = clock.now() + 4s;
    while (clock.now() < end) {
        judge.look();
        std::this_thread::sleep_for(1ms);
    }
    judge.finish([] { std::this_thread::sleep_for(1ms); });
    std::cout << judge.all() << "\n";
    EXPECT_GT(judge.all().good, 100u);
    EXPECT_GT(judge.all().accepted, 10u);
}

}  // namespace
}  // namespace tagferry::gateway
