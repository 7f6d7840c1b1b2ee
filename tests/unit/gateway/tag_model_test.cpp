#include "gateway/tags/tag_model.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tagferry::gateway {
namespace {

bool read_type(std::string_view text, value_type& type) {
    type = {};
    if (text == "INT") {
        type.element = data_type::int16;
    } else if (text == "REAL") {
        type.element = data_type::float32;
    } else {
        return false;
    }
    return true;
}

config::tag make_tag(const std::string& path, const std::string& type = "INT") {
    config::tag tag;
    tag.path = path;
    tag.type = type;
    return tag;
}

config::connection make_connection(const std::string& name, std::vector<config::tag> tags) {
    config::connection connection;
    connection.name = name;
    connection.scan_classes.push_back({"fast", 100, {}});
    connection.tags = std::move(tags);
    return connection;
}

class tag_model_test : public testing::Test {
  protected:
    std::unique_ptr<const tag_model> build(const config::configuration& from) {
        errors_.clear();
        return builder_.build(from, &read_type, errors_);
    }
    std::vector<std::string> children(const tag_model& model, std::string_view path) {
        std::vector<std::string> names;
        for (const model_position child : model.children(*model.find(path))) {
            names.push_back(model.nodes()[child].name);
        }
        return names;
    }

    tag_table table_;
    model_builder builder_{table_};
    std::vector<model_error> errors_;
};

TEST_F(tag_model_test, a_tree_has_folders_before_tags_in_configured_order) {
    config::configuration from;
    from.connections.push_back(
        make_connection("press", {make_tag("z"), make_tag("tank/level", "REAL"), make_tag("a"),
                                  make_tag("tank/inner/x"), make_tag("pump/on")}));
    from.connections.push_back(make_connection("oven/2", {make_tag("50%25")}));
    const auto model = build(from);
    EXPECT_TRUE(errors_.empty());
    EXPECT_EQ(children(*model, ""), (std::vector<std::string>{"press", "oven/2"}));
    EXPECT_EQ(children(*model, "press"), (std::vector<std::string>{"tank", "pump", "z", "a"}));
    EXPECT_EQ(children(*model, "press/tank"), (std::vector<std::string>{"inner", "level"}));
    EXPECT_EQ(children(*model, "oven%2F2"), std::vector<std::string>{"50%"});
    const model_node* const level = model->find("press/tank/level");
    ASSERT_NE(level, nullptr);
    EXPECT_EQ(level->kind, node_kind::tag);
    EXPECT_EQ(level->node_id_text, "ns=3;s=press/tank/level");
    const tag_definition& tag = model->tags()[level->item];
    EXPECT_EQ(model->find(tag.handle), &tag);
    EXPECT_EQ(tag.type.element, data_type::float32);
    EXPECT_EQ(tag.stale_after_ms, 300u);
    EXPECT_EQ(model->nodes()[level->parent].path, "press/tank");
    EXPECT_EQ(model->find(model->nodes()[level->parent].id), &model->nodes()[level->parent]);
    EXPECT_EQ(model->find("press/nothing"), nullptr);
    EXPECT_EQ(model->find_connection("oven/2")->tag_count, 1u);
}

TEST_F(tag_model_test, paths_of_every_length_are_found_each_and_together) {
    config::configuration from;
    std::vector<config::tag> tags;
    for (std::size_t length = 1; length <= 30; ++length) {
        tags.push_back(make_tag(std::string(length, 'x')));
    }
    from.connections.push_back(make_connection("p", tags));
    const auto model = build(from);
    std::vector<std::string> paths{"p", "q", "p/xy"};
    for (const config::tag& tag : tags) {
        paths.push_back("p/" + tag.path);
    }
    paths.resize(path_index::most_at_once);
    const std::vector<std::string_view> views(paths.begin(), paths.end());
    std::array<model_position, path_index::most_at_once> found{};
    model->find_each(views, found);
    EXPECT_EQ(found[1], no_position);
    EXPECT_EQ(found[2], no_position);
    for (std::size_t at = 3; at < found.size(); ++at) {
        ASSERT_NE(found[at], no_position) << paths[at];
        EXPECT_EQ(model->nodes()[found[at]].path, paths[at]);
        EXPECT_EQ(&model->nodes()[found[at]], model->find(paths[at]));
    }
}

TEST_F(tag_model_test, what_stays_keeps_its_handle_and_what_goes_is_stale) {
    config::configuration from;
    from.connections.push_back(
        make_connection("press", {make_tag("a"), make_tag("b"), make_tag("g/c")}));
    const auto first = build(from);
    const tag_handle a = first->tags()[0].handle;
    const tag_handle b = first->tags()[1].handle;
    const node_id group = first->find("press/g")->id;
    from.connections[0].tags = {make_tag("new"), make_tag("b", "REAL"), make_tag("a"),
                                make_tag("h/c")};
    const auto second = build(from);
    EXPECT_EQ(second->tags()[2].handle, a);
    EXPECT_FALSE(second->tags()[1].handle == b) << "another type is another tag";
    EXPECT_TRUE(table_.contains(b)) << "until every shard has the new model";
    builder_.remove_unused();
    EXPECT_TRUE(table_.contains(a));
    EXPECT_FALSE(table_.contains(b));
    EXPECT_EQ(table_.size(), 4u);
    EXPECT_EQ(second->find(group), nullptr);
    EXPECT_EQ(second->find(b), nullptr);
    EXPECT_EQ(first->find("press")->id, second->find("press")->id);
    from.connections.clear();
    const auto third = build(from);
    builder_.remove_unused();
    EXPECT_EQ(table_.size(), 0u);
    from.connections.push_back(make_connection("press", {make_tag("a")}));
    const auto fourth = build(from);
    EXPECT_FALSE(fourth->tags()[0].handle == a);
    EXPECT_FALSE(fourth->find("press")->id == first->find("press")->id);
}

TEST_F(tag_model_test, faults_are_named_and_leave_the_rest) {
    config::configuration from;
    from.connections.push_back(make_connection(
        "press", {make_tag("a"), make_tag("a"), make_tag("b", "NONSENSE"), make_tag("a/x"),
                  make_tag("g/x"), make_tag("g"), make_tag("bad//path"), make_tag("c")}));
    const auto model = build(from);
    EXPECT_EQ(errors_.size(), 5u);
    EXPECT_EQ(model->tags().size(), 3u);
    EXPECT_EQ(errors_[0].path, "press/a");
    EXPECT_NE(model->find("press/c"), nullptr);
}

TEST_F(tag_model_test, a_full_table_is_told) {
    tag_table_limits limits;
    limits.tags = 256;
    tag_table small{limits};
    model_builder builder{small};
    config::configuration from;
    std::vector<config::tag> tags;
    for (int i = 0; i < 300; ++i) {
        tags.push_back(make_tag("t" + std::to_string(i)));
    }
    from.connections.push_back(make_connection("press", tags));
    std::vector<model_error> errors;
    const auto model = builder.build(from, &read_type, errors);
    EXPECT_EQ(model->tags().size(), 256u);
    EXPECT_EQ(errors.size(), 44u);
}

TEST_F(tag_model_test, a_walk_by_index_shows_every_tag_once) {
    config::configuration from;
    from.connections.push_back(make_connection("one", {make_tag("a"), make_tag("b")}));
    from.connections.push_back(make_connection("two", {make_tag("c")}));
    const auto model = build(from);
    std::size_t seen = 0;
    for (const tag_definition* tag = model->at_or_after(0); tag != nullptr;
         tag = model->at_or_after(tag->handle.index + 1)) {
        ++seen;
    }
    EXPECT_EQ(seen, 3u);
}

}  // namespace
}  // namespace tagferry::gateway
