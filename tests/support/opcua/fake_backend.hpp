// A gateway of plain vectors: a tree that tests build by path, samples that they set, device reads
// that they complete when they like.
#pragma once

#include "protocols/opcua/backend/backend.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::opcua::test {

/// The slot form of one number.
template <typename T>
std::vector<std::byte> slot_of(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

inline std::vector<std::byte> slot_of_text(std::string_view text) {
    std::vector<std::byte> bytes = slot_of(static_cast<std::uint16_t>(text.size()));
    for (const char each : text) {
        bytes.push_back(static_cast<std::byte>(each));
    }
    return bytes;
}

class fake_backend final : public values_backend,
                           public browse_backend,
                           public writes_backend,
                           public feed_backend,
                           public identity_backend,
                           public configuration_backend,
                           public events_backend,
                           public schedule_backend {
  public:
    struct tag {
        bool alive = true;
        std::uint32_t generation = 1;
        builtin_type type = builtin_type::float32;
        std::int32_t array_length = -1;
        bool writable = false;
        std::string unit{};
        std::vector<std::byte> value{};
        status_code status = 0;
        transport::wall_time_ns source_time = 0;
        transport::wall_time_ns server_time = 0;
        std::size_t latest = 0;  ///< watchers
        std::size_t queued = 0;
    };

    fake_backend() {
        nodes_.push_back({});  // the root
        who_.application_uri = "urn:test:tagferry";
        who_.application_name = "Tagferry under test";
        who_.product_uri = "urn:tagferry";
        who_.manufacturer_name = "Tagferry";
        who_.product_name = "Tagferry";
        who_.software_version = "0.1.0";
        who_.build_number = "1";
        who_.start_time = 1'700'000'000'000'000'000;
    }

    backend ports() { return {*this, *this, *this, *this, *this, *this, *this, *this}; }

    /// Adds a tag and what is missing above it; the first name is the connection.
    tag& add_tag(std::string_view path, builtin_type type, std::vector<std::byte> value,
                 std::int32_t array_length = -1) {
        const std::size_t at = add(path, tree_kind::tag);
        tag made;
        made.type = type;
        made.array_length = array_length;
        made.value = std::move(value);
        made.source_time = made.server_time = 1'700'000'001'000'000'000;
        nodes_[at].tag_index = static_cast<std::uint32_t>(tags_.size());
        tags_.push_back(std::move(made));
        return tags_.back();
    }
    std::size_t add_connection(std::string_view name) { return add(name, tree_kind::connection); }

    tag& tag_at(std::string_view path) {
        return tags_[nodes_[by_path_.at(std::string{path})].tag_index];
    }
    void remove_tag(std::string_view path) {
        const std::size_t at = by_path_.at(std::string{path});
        tag& gone = tags_[nodes_[at].tag_index];
        gone.alive = false;
        ++gone.generation;
        marked_.insert(nodes_[at].tag_index);
        by_path_.erase(std::string{path});
        auto& siblings = nodes_[nodes_[at].parent].children;
        siblings.erase(std::find(siblings.begin(), siblings.end(), at));
    }

    /// Finishes the oldest device read.
    void complete_device_read(device_read_result result, transport::time_point now) {
        const pending_read done = pending_reads.front();
        pending_reads.pop_front();
        done.sink->resume(done.token, static_cast<std::uint32_t>(result), now);
    }

    /// Finishes the oldest write: each item with its code, `Good` for those without one, which the
    /// tags then hold.
    void complete_write(std::span<const status_code> codes, transport::time_point now) {
        const pending_write done = pending_writes.front();
        pending_writes.erase(pending_writes.begin());
        for (std::size_t at = 0; at < done.items.size(); ++at) {
            const write_item& item = done.items[at];
            done.outcomes[at] = at < codes.size() ? codes[at] : status_code{0};
            if (is_good(done.outcomes[at])) {
                put(tags_[item.handle.index], item);
            }
        }
        done.sink->resume(done.token, 0, now);
    }
    void complete_write(transport::time_point now) { complete_write({}, now); }

    struct pending_write {
        transport::completion_sink* sink;
        transport::completion_token token;
        transport::time_point deadline;
        std::span<const write_item> items;
        std::span<status_code> outcomes;
    };
    std::vector<pending_write> pending_writes{};
    std::uint64_t writes_started = 0;
    bool refuse_writes = false;

    struct pending_read {
        transport::completion_sink* sink;
        transport::completion_token token;
        std::size_t count;
    };
    std::deque<pending_read> pending_reads{};
    bool refuse_device_reads = false;
    actor last_actor{};
    settings rules{};
    std::vector<std::string_view> urls{"opc.tcp://plant.example:4840"};

    bool read_current(const call& context, tag_handle handle, std::span<std::byte> scratch,
                      sample& out) override {
        last_actor = context.who;
        if (handle.index >= tags_.size() || !tags_[handle.index].alive ||
            tags_[handle.index].generation != handle.generation) {
            return false;
        }
        const tag& found = tags_[handle.index];
        out.status = found.status;
        out.source_time = found.source_time;
        out.server_time = found.server_time;
        out.value = {};
        if (!found.value.empty()) {
            std::span<const std::byte> bytes = found.value;
            if (bytes.size() <= max_inline_value_bytes) {
                std::memcpy(scratch.data(), bytes.data(), bytes.size());
                bytes = scratch.first(bytes.size());
            }
            out.value = {found.type, found.array_length, bytes};
        }
        return true;
    }

    void read_numbers(const call& context, std::span<const tag_handle> handles,
                      std::span<number_sample> into) override {
        std::array<std::byte, max_inline_value_bytes> scratch;
        for (std::size_t at = 0; at < handles.size(); ++at) {
            sample current;
            into[at] = {};
            if (!read_current(context, handles[at], scratch, current)) {
                continue;
            }
            const tag& found = tags_[handles[at].index];
            const std::size_t size = slot_element_size(found.type);
            if (size == 0 || found.array_length >= 0) {
                continue;
            }
            std::ranges::copy(current.value.bytes,
                              std::as_writable_bytes(std::span(&into[at].bits, 1)).begin());
            into[at].source_time = current.source_time;
            into[at].server_time = current.server_time;
            into[at].status = current.status;
            into[at].type = found.type;
            into[at].size = static_cast<std::uint8_t>(current.value.bytes.size());
        }
    }

    bool read_device(const call& context, std::span<const tag_handle> handles) override {
        if (refuse_device_reads) {
            return false;
        }
        pending_reads.push_back({context.sink, context.token, handles.size()});
        return true;
    }

    bool find(const call&, std::string_view path, tree_handle& out) override {
        const auto found = by_path_.find(path);
        if (found == by_path_.end()) {
            return false;
        }
        out = handle_of(found->second);
        return true;
    }

    void find_each(const call& context, std::span<const std::string_view> paths,
                   std::span<tree_handle> into) override {
        for (std::size_t at = 0; at < paths.size(); ++at) {
            into[at] = tree_root;
            find(context, paths[at], into[at]);
        }
    }

    bool find_child(const call& context, tree_handle parent, std::string_view name,
                    tree_handle& out) override {
        tree_node above;
        if (!describe(context, parent, above)) {
            return false;
        }
        const std::string path = above.path.empty()
                                     ? std::string{name}
                                     : std::string{above.path} + "/" + std::string{name};
        return find(context, path, out);
    }

    bool describe(const call&, tree_handle handle, tree_node& out) override {
        const std::size_t at = node_of(handle);
        if (at == npos) {
            return false;
        }
        const node& found = nodes_[at];
        out = {};
        out.handle = handle;
        out.parent = handle_of(found.parent);
        out.path = found.path;
        out.name = found.name;
        out.description = found.description;
        if (handle.kind == tree_kind::connection) {
            out.manufacturer = "Works Ltd";
            out.model = "Press 9";
        }
        if (handle.kind == tree_kind::tag) {
            const tag& data = tags_[found.tag_index];
            out.type = data.type;
            out.array_length = data.array_length;
            out.writable = data.writable;
            out.unit = data.unit;
            out.minimum_sampling_interval_ms = 100;
        }
        return true;
    }

    tree_page children(const call& context, tree_handle parent, std::uint64_t cursor,
                       std::span<tree_node> into) override {
        tree_page page;
        const std::size_t at = node_of(parent);
        if (at == npos) {
            page.parent_unknown = true;
            return page;
        }
        const std::vector<std::size_t>& list = nodes_[at].children;
        for (; page.count < into.size() && cursor < list.size(); ++cursor) {
            describe(context, handle_of(list[cursor]), into[page.count++]);
        }
        page.next = cursor < list.size() ? cursor : 0;
        return page;
    }

    bool start_write(const call& context, std::span<const write_item> items,
                     std::span<status_code> outcomes) override {
        last_actor = context.who;
        if (refuse_writes) {
            return false;
        }
        ++writes_started;
        pending_writes.push_back({context.sink, context.token, context.deadline, items, outcomes});
        return true;
    }

    // The feed.

    /// The device delivers `value`: into the table, and to whoever watches. @param changed false:
    /// the same value again.
    void deliver(std::string_view path, std::vector<std::byte> value, bool changed = true) {
        tag& which = tag_at(path);
        which.value = std::move(value);
        which.status = 0;
        which.source_time = which.server_time = which.server_time + 1'000'000;
        tell(path, changed);
    }
    void deliver_status(std::string_view path, status_code status) {
        tag& which = tag_at(path);
        which.value.clear();
        which.status = status;
        which.server_time += 1'000'000;
        tell(path, true);
    }
    /// What the gateway's shard does at the beginning of a turn that the feed asked for.
    void wake_feed(transport::time_point now) {
        if (feed_sink_ != nullptr && (!marked_.empty() || !ring_.empty())) {
            transport::completion_sink& sink = *feed_sink_;
            feed_sink_ = nullptr;
            sink.resume(feed_token_, 0, now);
        }
    }
    /// Runs until nothing asks for another turn. @return turns it took.
    std::size_t run_turns(transport::time_point now) {
        std::size_t turns = 0;
        wake_feed(now);
        while (work_ != nullptr) {
            continued_work& work = *work_;
            work_ = nullptr;
            work.go_on(now);
            wake_feed(now);
            ++turns;
        }
        return turns;
    }
    std::size_t watched() const {
        std::size_t sum = 0;
        for (const tag& each : tags_) {
            sum += each.latest + each.queued;
        }
        return sum;
    }
    std::size_t most_queued_tags = 1'000'000;

    bool watch(const call&, tag_handle handle, feed_kind kind) override {
        if (!is_live(handle)) {
            return false;
        }
        tag& which = tags_[handle.index];
        if (kind == feed_kind::queued && most_queued_tags == 0) {
            return false;
        }
        ++(kind == feed_kind::queued ? which.queued : which.latest);
        marked_.insert(handle.index);
        return true;
    }
    void unwatch(const call&, tag_handle handle, feed_kind kind) override {
        tag& which = tags_[handle.index];
        if (which.generation == handle.generation) {
            --(kind == feed_kind::queued ? which.queued : which.latest);
        }
    }
    void arm(const call& context) override {
        feed_sink_ = context.sink;
        feed_token_ = context.token;
    }
    std::size_t drain_latest(std::span<feed_mark> into) override {
        std::size_t written = 0;
        while (written < into.size() && !marked_.empty()) {
            const std::uint32_t index = *marked_.begin();
            marked_.erase(marked_.begin());
            const tag& which = tags_[index];
            // Whoever watched a tag that is gone knows it by its old name.
            into[written++] = {{index, which.generation - (which.alive ? 0U : 1U)}, true, false};
        }
        return written;
    }
    std::size_t drain_queued(std::span<feed_sample> into) override {
        shown_.clear();
        std::size_t written = 0;
        while (written < into.size() && !ring_.empty()) {
            shown_.push_back(std::move(ring_.front()));
            ring_.pop_front();
            queued_sample& from = shown_.back();
            from.shown.data.value.bytes = from.value;
            into[written++] = from.shown;
        }
        return written;
    }

    transport::timing_wheel& wheel() noexcept override { return wheel_; }
    void go_on_next_turn(continued_work& work) noexcept override { work_ = &work; }
    void forget() noexcept override { work_ = nullptr; }

    const identity& who_we_are() const noexcept override { return who_; }
    std::span<const std::string_view> endpoint_urls() const noexcept override { return urls; }
    std::uint8_t service_level() const noexcept override { return 255; }
    const settings& current() const noexcept override { return rules; }
    void happened(server_event event, const event_facts& facts) noexcept override {
        if (keep_events) {
            events.push_back({event, std::string{facts.peer}, facts.session_id, facts.result});
        }
    }

    struct seen_event {
        server_event event{};
        std::string peer{};
        std::uint32_t session_id = 0;
        status_code result = 0;
    };
    std::vector<seen_event> events{};
    bool keep_events = false;

  private:
    /// A part goes over the elements it names; only numbers are written in parts here.
    static void put(tag& to, const write_item& item) {
        if (item.range.whole()) {
            to.value.assign(item.value.bytes.begin(), item.value.bytes.end());
            return;
        }
        const std::size_t size = slot_element_size(item.value.type);
        std::memcpy(to.value.data() + item.range.first * size, item.value.bytes.data(),
                    item.value.bytes.size());
    }

    static constexpr std::size_t npos = static_cast<std::size_t>(-1);

    struct queued_sample {
        feed_sample shown{};
        std::vector<std::byte> value{};
    };

    bool is_live(tag_handle handle) const {
        return handle.index < tags_.size() && tags_[handle.index].alive &&
               tags_[handle.index].generation == handle.generation;
    }
    void tell(std::string_view path, bool changed) {
        const std::uint32_t index = nodes_[by_path_.at(std::string{path})].tag_index;
        const tag& which = tags_[index];
        if (which.latest != 0 && changed) {
            marked_.insert(index);
        }
        if (which.queued != 0) {
            queued_sample made;
            made.shown.handle = {index, which.generation};
            made.shown.changed = changed;
            made.shown.data = {{}, which.status, which.source_time, which.server_time};
            made.value = which.value;
            if (!made.value.empty()) {
                made.shown.data.value = {which.type, which.array_length, {}};
            }
            ring_.push_back(std::move(made));
        }
    }

    struct node {
        tree_kind kind = tree_kind::root;
        std::string path{};
        std::string name{};
        std::string description{};
        std::size_t parent = 0;
        std::vector<std::size_t> children{};
        std::uint32_t tag_index = 0;
    };

    std::size_t add(std::string_view path, tree_kind kind) {
        const auto found = by_path_.find(path);
        if (found != by_path_.end()) {
            return found->second;
        }
        const std::size_t slash = path.rfind('/');
        std::size_t parent = 0;
        if (slash != std::string_view::npos) {
            const std::string_view above = path.substr(0, slash);
            parent = add(above, above.find('/') == std::string_view::npos ? tree_kind::connection
                                                                          : tree_kind::group);
        }
        const std::size_t at = nodes_.size();
        node made;
        made.kind = kind;
        made.path = std::string{path};
        made.name = std::string{slash == std::string_view::npos ? path : path.substr(slash + 1)};
        made.parent = parent;
        nodes_.push_back(std::move(made));
        nodes_[parent].children.push_back(at);
        by_path_.emplace(path, at);
        return at;
    }

    tree_handle handle_of(std::size_t at) const {
        const node& found = nodes_[at];
        return found.kind == tree_kind::tag
                   ? tree_handle{found.kind, found.tag_index, tags_[found.tag_index].generation}
                   : tree_handle{found.kind, static_cast<std::uint32_t>(at), 0};
    }
    std::size_t node_of(tree_handle handle) const {
        if (handle.kind != tree_kind::tag) {
            return handle.index < nodes_.size() && nodes_[handle.index].kind == handle.kind
                       ? handle.index
                       : npos;
        }
        if (handle.index >= tags_.size() || tags_[handle.index].generation != handle.generation) {
            return npos;
        }
        for (std::size_t at = 0; at < nodes_.size(); ++at) {
            if (nodes_[at].kind == tree_kind::tag && nodes_[at].tag_index == handle.index) {
                return at;
            }
        }
        return npos;
    }

    identity who_{};
    std::deque<node> nodes_{};
    std::deque<tag> tags_{};
    std::map<std::string, std::size_t, std::less<>> by_path_{};
    std::set<std::uint32_t> marked_{};
    std::deque<queued_sample> ring_{};
    std::vector<queued_sample> shown_{};
    transport::completion_sink* feed_sink_ = nullptr;
    transport::completion_token feed_token_{};
    transport::timing_wheel wheel_{transport::time_point{}};
    continued_work* work_ = nullptr;
};

}  // namespace tagferry::opcua::test
