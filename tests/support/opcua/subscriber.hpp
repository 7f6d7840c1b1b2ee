// A client with subscriptions: requests of the Subscription and MonitoredItem services, and what
// comes back, decoded.
#pragma once

#include "protocols/opcua/subscription/data_change_filter.hpp"
#include "tests/support/opcua/raw_client.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::opcua::test {

struct item_wish {
    std::string node{};
    std::uint32_t client_handle = 0;
    double sampling_ms = 0;
    std::uint32_t queue_size = 1;
    bool discard_oldest = true;
    std::uint32_t mode = 2;
    std::uint32_t attribute_id = 13;
    std::string range{};
    std::optional<std::pair<std::uint32_t, std::uint32_t>> filter{};  // trigger, deadband type
    double deadband = 0;
};

struct made_item {
    status_code result = 0;
    std::uint32_t id = 0;
    double sampling_ms = 0;
    std::uint32_t queue_size = 0;
};

struct notification {
    std::uint32_t client_handle = 0;
    status_code status = 0;
    bool has_value = false;
    builtin_type type = builtin_type::null;
    std::int32_t length = -1;
    bytes elements{};
    std::int64_t source_ticks = 0;
    std::int64_t server_ticks = 0;

    template <typename T>
    T as() const {
        return elements.size() < sizeof(T)
                   ? T{}
                   : transport::load<T>(elements.data(), std::endian::little);
    }
};

/// What a Publish or Republish was answered with.
struct published {
    bool arrived = false;
    status_code result = 0;
    std::uint32_t request_id = 0;
    std::uint32_t subscription_id = 0;
    std::vector<std::uint32_t> available{};
    bool more = false;
    std::uint32_t sequence = 0;
    std::vector<notification> items{};
    status_code status_change = 0;
    std::vector<status_code> results{};

    bool is_keep_alive() const { return items.empty() && status_change == 0; }
    template <typename T>
    std::vector<T> values() const {
        std::vector<T> out;
        for (const notification& each : items) {
            out.push_back(each.as<T>());
        }
        return out;
    }
};

class subscriber {
  public:
    explicit subscriber(plant& site) : site_(site) {
        connect();
        link->open_session();
    }
    /// @param receive largest chunk it takes, and @param message largest answer.
    subscriber(plant& site, std::uint32_t receive, std::uint32_t message) : site_(site) {
        connect();
        link->call(raw_client::hello_frame(receive, receive, message));
        link->take_open(link->call(link->open_frame()));
        link->create_session();
        link->activate();
    }

    /// Takes its session to a new connection; the old one is lost.
    /// @return what activating it there came to.
    status_code reconnect() {
        const std::string token = link->token;
        link->driver.shut(transport::close_reason::peer_closed);
        connect();
        link->open();
        link->token = token;
        return link->activate();
    }

    status_code create(double interval_ms = 100, std::uint32_t keep_alive = 10,
                       std::uint32_t lifetime = 100, std::uint32_t most = 0, bool enabled = true,
                       std::uint8_t priority = 0) {
        const bytes rest = ask(id::create_subscription_request_binary, [&](encoder& out) {
            out.float64(interval_ms);
            out.u32(lifetime);
            out.u32(keep_alive);
            out.u32(most);
            out.boolean(enabled);
            out.u8(priority);
        });
        decoder in{rest, bounds_};
        subscription = in.u32();
        revised_interval = in.float64();
        revised_lifetime = in.u32();
        revised_keep_alive = in.u32();
        return result;
    }
    status_code modify(std::uint32_t which, double interval_ms, std::uint32_t keep_alive,
                       std::uint32_t lifetime, std::uint32_t most = 0, std::uint8_t priority = 0) {
        const bytes rest = ask(id::modify_subscription_request_binary, [&](encoder& out) {
            out.u32(which);
            out.float64(interval_ms);
            out.u32(lifetime);
            out.u32(keep_alive);
            out.u32(most);
            out.u8(priority);
        });
        decoder in{rest, bounds_};
        revised_interval = in.float64();
        revised_lifetime = in.u32();
        revised_keep_alive = in.u32();
        return result;
    }
    std::vector<status_code> set_publishing(bool enabled, const std::vector<std::uint32_t>& ids) {
        return codes(ask(id::set_publishing_mode_request_binary, [&](encoder& out) {
            out.boolean(enabled);
            write_ids(out, ids);
        }));
    }
    std::vector<status_code> remove(const std::vector<std::uint32_t>& ids) {
        return codes(ask(id::delete_subscriptions_request_binary,
                         [&](encoder& out) { write_ids(out, ids); }));
    }
    /// Results; `transferred` receives the available sequence numbers of each.
    std::vector<status_code> transfer(const std::vector<std::uint32_t>& ids, bool initial) {
        const bytes rest = ask(id::transfer_subscriptions_request_binary, [&](encoder& out) {
            write_ids(out, ids);
            out.boolean(initial);
        });
        decoder in{rest, bounds_};
        std::vector<status_code> out;
        transferred.clear();
        for (std::uint32_t left = in.array_length(8); left != 0; --left) {
            out.push_back(in.u32());
            transferred.emplace_back();
            for (std::uint32_t count = in.array_length(4); count != 0; --count) {
                transferred.back().push_back(in.u32());
            }
        }
        return out;
    }

    static void write_parameters(encoder& out, const item_wish& wish) {
        out.u32(wish.client_handle);
        out.float64(wish.sampling_ms);
        if (wish.filter) {
            out.numeric_id(0, id::data_change_filter_binary);
            out.u8(1);
            out.i32(16);
            out.u32(wish.filter->first);
            out.u32(wish.filter->second);
            out.float64(wish.deadband);
        } else {
            out.null_extension_object();
        }
        out.u32(wish.queue_size);
        out.boolean(wish.discard_oldest);
    }
    std::vector<made_item> monitor(const std::vector<item_wish>& wishes,
                                   std::uint32_t timestamps = 2, std::uint32_t in_which = 0) {
        const bytes rest = ask(id::create_monitored_items_request_binary, [&](encoder& out) {
            out.u32(in_which == 0 ? subscription : in_which);
            out.u32(timestamps);
            out.u32(static_cast<std::uint32_t>(wishes.size()));
            for (const item_wish& wish : wishes) {
                raw_client::write_id(out, wish.node);
                out.u32(wish.attribute_id);
                out.string(wish.range);
                out.qualified_name(0, {});
                out.u32(wish.mode);
                write_parameters(out, wish);
            }
        });
        decoder in{rest, bounds_};
        std::vector<made_item> out;
        for (std::uint32_t left = in.array_length(20); left != 0; --left) {
            made_item each;
            each.result = in.u32();
            each.id = in.u32();
            each.sampling_ms = in.float64();
            each.queue_size = in.u32();
            in.extension_object();
            out.push_back(each);
        }
        return out;
    }
    std::uint32_t monitor_one(const item_wish& wish) { return monitor({wish}).at(0).id; }
    made_item modify_item(std::uint32_t item, const item_wish& wish, std::uint32_t timestamps = 2) {
        const bytes rest = ask(id::modify_monitored_items_request_binary, [&](encoder& out) {
            out.u32(subscription);
            out.u32(timestamps);
            out.u32(1);
            out.u32(item);
            write_parameters(out, wish);
        });
        decoder in{rest, bounds_};
        made_item out;
        out.id = item;
        if (in.array_length(1) == 1) {
            out.result = in.u32();
            out.sampling_ms = in.float64();
            out.queue_size = in.u32();
        }
        return out;
    }
    std::vector<status_code> set_mode(std::uint32_t mode, const std::vector<std::uint32_t>& items) {
        return codes(ask(id::set_monitoring_mode_request_binary, [&](encoder& out) {
            out.u32(subscription);
            out.u32(mode);
            write_ids(out, items);
        }));
    }
    std::vector<status_code> remove_items(const std::vector<std::uint32_t>& items) {
        return codes(ask(id::delete_monitored_items_request_binary, [&](encoder& out) {
            out.u32(subscription);
            write_ids(out, items);
        }));
    }
    /// Results of adding, then of removing.
    std::pair<std::vector<status_code>, std::vector<status_code>> trigger(
        std::uint32_t item, const std::vector<std::uint32_t>& add,
        const std::vector<std::uint32_t>& take) {
        const bytes rest = ask(id::set_triggering_request_binary, [&](encoder& out) {
            out.u32(subscription);
            out.u32(item);
            write_ids(out, add);
            write_ids(out, take);
        });
        decoder in{rest, bounds_};
        std::pair<std::vector<status_code>, std::vector<status_code>> out;
        out.first = codes(in);
        in.u32();
        out.second = codes(in);
        return out;
    }

    /// Sends a Publish and does not wait for its answer. @return its request id.
    std::uint32_t publish(
        const std::vector<std::pair<std::uint32_t, std::uint32_t>>& acknowledged = {},
        std::uint32_t timeout_ms = 0) {
        link->driver.feed(link->request(
            id::publish_request_binary,
            [&](encoder& out) {
                out.u32(static_cast<std::uint32_t>(acknowledged.size()));
                for (const auto& [which, sequence] : acknowledged) {
                    out.u32(which);
                    out.u32(sequence);
                }
            },
            timeout_ms));
        return link->request_id;
    }
    /// The next answer that has come; `arrived` is false when there is none.
    published next() {
        site_.turn();
        link->driver.turn();
        return read(link->next());
    }
    /// Lets time pass, then the next answer.
    published after(int ms) {
        site_.pass(std::chrono::milliseconds{ms});
        return next();
    }
    /// All answers that come within so many milliseconds, a Publish for each kept outstanding.
    std::vector<published> all_within(int ms, int outstanding = 2) {
        std::vector<published> out;
        for (int count = 0; count < outstanding; ++count) {
            publish();
        }
        for (int at = 0; at < ms; ++at) {
            site_.pass(std::chrono::milliseconds{1});
            for (published each = next(); each.arrived; each = next()) {
                if (each.result == 0) {
                    publish({{each.subscription_id, each.sequence}});
                }
                out.push_back(std::move(each));
            }
        }
        return out;
    }
    published republish(std::uint32_t which, std::uint32_t sequence) {
        const bytes rest = ask(id::republish_request_binary, [&](encoder& out) {
            out.u32(which);
            out.u32(sequence);
        });
        published out;
        out.arrived = true;
        out.result = result;
        if (result == 0) {
            decoder in{rest, bounds_};
            read_message(in, out);
        }
        return out;
    }

    /// One request and its answer's body; `result` is its service result.
    template <typename Write>
    bytes ask(std::uint32_t type, Write&& write) {
        send(type, write);
        bytes rest;
        const std::uint32_t wanted = link->request_id;
        for (;;) {
            const reply answer = link->next();
            if (answer.type.empty()) {
                result = status::bad_no_communication;
                return {};
            }
            if (answer.request_id == wanted) {
                result = raw_client::result_of(answer, nullptr, &rest);
                return rest;
            }
            early.push_back(read(answer));
        }
    }

  private:
    plant& site_;
    limits bounds_{};

    void connect() { link = std::make_unique<raw_client>(*site_.host, site_.time); }

    /// A request, in as many chunks as it takes.
    template <typename Write>
    void send(std::uint32_t type, Write&& write) {
        constexpr std::size_t piece = 60'000;
        const bytes body = encoded([&](encoder& out) {
            link->write_request_head(out, type);
            write(out);
        });
        const std::uint32_t number = ++link->request_id;
        std::span<const std::byte> rest = body;
        for (; rest.size() > piece; rest = rest.subspan(piece)) {
            link->driver.feed(link->chunk("MSGC", rest.first(piece), number));
        }
        link->driver.feed(link->chunk("MSGF", rest, number));
    }

    static void write_ids(encoder& out, const std::vector<std::uint32_t>& ids) {
        out.u32(static_cast<std::uint32_t>(ids.size()));
        for (const std::uint32_t each : ids) {
            out.u32(each);
        }
    }
    static std::vector<status_code> codes(decoder& in) {
        std::vector<status_code> out;
        for (std::uint32_t left = in.array_length(4); left != 0; --left) {
            out.push_back(in.u32());
        }
        return out;
    }
    std::vector<status_code> codes(const bytes& rest) {
        decoder in{rest, bounds_};
        return codes(in);
    }
    void read_data(bytes_view body, published& out) {
        decoder in{body, bounds_};
        for (std::uint32_t left = in.array_length(5); left != 0; --left) {
            notification each;
            each.client_handle = in.u32();
            const data_value_view value = in.data_value();
            each.status = value.status;
            each.has_value = value.has_value;
            each.type = value.value.type;
            each.length = value.value.array_length;
            each.elements.assign(value.value.elements.begin(), value.value.elements.end());
            each.source_ticks = value.source_timestamp;
            each.server_ticks = value.server_timestamp;
            out.items.push_back(std::move(each));
        }
        in.u32();
        if (!in.ok() || in.remaining() != 0) {
            out.result = status::bad_decoding_error;
        }
    }
    void read_message(decoder& in, published& out) {
        out.sequence = in.u32();
        in.i64();
        for (std::uint32_t left = in.array_length(3); left != 0; --left) {
            const extension_object_view data = in.extension_object();
            if (data.type.number == id::data_change_notification_binary) {
                read_data(data.body, out);
            } else {
                decoder change{data.body, bounds_};
                out.status_change = change.u32();
            }
        }
    }
    published read(const reply& answer) {
        published out;
        if (answer.type.empty()) {
            return out;
        }
        out.arrived = true;
        out.request_id = answer.request_id;
        bytes rest;
        out.result = raw_client::result_of(answer, nullptr, &rest);
        if (out.result != 0) {
            return out;
        }
        decoder in{rest, bounds_};
        out.subscription_id = in.u32();
        for (std::uint32_t left = in.array_length(4); left != 0; --left) {
            out.available.push_back(in.u32());
        }
        out.more = in.boolean();
        read_message(in, out);
        out.results = codes(in);
        in.u32();
        if (!in.ok() || in.remaining() != 0) {
            out.result = status::bad_decoding_error;
        }
        return out;
    }

  public:
    std::unique_ptr<raw_client> link{};
    status_code result = 0;
    std::uint32_t subscription = 0;
    double revised_interval = 0;
    std::uint32_t revised_lifetime = 0;
    std::uint32_t revised_keep_alive = 0;
    std::vector<std::vector<std::uint32_t>> transferred{};
    std::vector<published> early{};  ///< Publish answers that came before another one's
};

}  // namespace tagferry::opcua::test
