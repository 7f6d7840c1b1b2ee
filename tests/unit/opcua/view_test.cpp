// Browse, BrowseNext, TranslateBrowsePathsToNodeIds, RegisterNodes, UnregisterNodes.
#include "protocols/opcua/nodes/standard_space.hpp"
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tagferry::opcua::test {
namespace {

const limits bounds;

struct description {
    std::string node{};
    std::uint32_t direction = 0;
    std::string type = "#33";  // HierarchicalReferences
    bool subtypes = true;
    std::uint32_t class_mask = 0;
    std::uint32_t result_mask = 63;
};

struct one_reference {
    std::string type{};
    bool is_forward = false;
    std::string node{};
    std::string browse_name{};
    std::string display_name{};
    std::uint32_t node_class = 0;
    std::string type_definition{};
};

struct browse_result {
    status_code result = 0;
    std::string point{};
    bool point_is_null = true;
    std::vector<one_reference> references{};

    std::set<std::string> names() const {
        std::set<std::string> out;
        for (const one_reference& each : references) {
            out.insert(each.browse_name);
        }
        return out;
    }
};

std::string text_of(const node_id_view& id) {
    if (id.kind == node_id_kind::string) {
        return std::string{id.bytes};
    }
    return (id.namespace_index == 0 ? "" : std::to_string(id.namespace_index)) + "#" +
           std::to_string(id.number);
}

std::vector<browse_result> parse_results(const reply& message, status_code* service = nullptr) {
    bytes rest;
    const status_code result = raw_client::result_of(message, nullptr, &rest);
    if (service != nullptr) {
        *service = result;
    }
    std::vector<browse_result> results;
    if (result != status::good) {
        return results;
    }
    decoder in{rest, bounds};
    for (std::uint32_t left = in.array_length(1); left != 0 && in.ok(); --left) {
        browse_result out;
        out.result = in.u32();
        const bytes_view point = in.byte_string();
        out.point_is_null = point.data() == nullptr;
        out.point.assign(reinterpret_cast<const char*>(point.data()), point.size());
        for (std::uint32_t more = in.array_length(1); more != 0 && in.ok(); --more) {
            one_reference reference;
            reference.type = text_of(in.node_id());
            reference.is_forward = in.boolean();
            reference.node = text_of(in.expanded_node_id().id);
            const qualified_name_view name = in.qualified_name();
            reference.browse_name =
                std::to_string(name.namespace_index) + ":" + std::string{name.name};
            reference.display_name = std::string{in.localized_text().text};
            reference.node_class = in.u32();
            reference.type_definition = text_of(in.expanded_node_id().id);
            out.references.push_back(reference);
        }
        results.push_back(out);
    }
    EXPECT_EQ(in.array_length(1), 0U);
    EXPECT_EQ(in.status(), status::good);
    EXPECT_EQ(in.remaining(), 0U);
    return results;
}

bytes browse_request(raw_client& client, const std::vector<description>& nodes,
                     std::uint32_t most = 0, std::uint32_t view = 0) {
    return client.request(id::browse_request_binary, [&](encoder& out) {
        out.numeric_id(0, view);
        out.i64(0);
        out.u32(0);
        out.u32(most);
        out.u32(static_cast<std::uint32_t>(nodes.size()));
        for (const description& each : nodes) {
            raw_client::write_id(out, each.node);
            out.u32(each.direction);
            raw_client::write_id(out, each.type);
            out.boolean(each.subtypes);
            out.u32(each.class_mask);
            out.u32(each.result_mask);
        }
    });
}

// What every connection has besides what is configured.
const std::set<std::string> nameplate{
    "2:Manufacturer",   "2:Model",        "2:HardwareRevision", "2:SoftwareRevision",
    "2:DeviceRevision", "2:DeviceManual", "2:SerialNumber",     "2:RevisionCounter"};
constexpr std::uint32_t references_of_big = 100 + 8;

std::set<std::string> with_nameplate(std::set<std::string> names) {
    names.insert(nameplate.begin(), nameplate.end());
    return names;
}

struct viewing : ::testing::Test {
    plant site{};
    raw_client client{site.connect()};
    viewing() {
        for (int count = 0; count < 100; ++count) {
            site.gateway.add_tag("big/t" + std::to_string(count), builtin_type::int32,
                                 slot_of(count));
        }
        client.open_session();
    }
    browse_result browse(const description& node, std::uint32_t most = 0) {
        const auto results = parse_results(client.call(browse_request(client, {node}, most)));
        return results.size() == 1 ? results[0] : browse_result{0xFFFFFFFF};
    }
    browse_result next(const std::string& point, bool release = false) {
        const auto results = parse_results(
            client.call(client.request(id::browse_next_request_binary, [&](encoder& out) {
                out.boolean(release);
                out.u32(1);
                out.byte_string(std::as_bytes(std::span{point.data(), point.size()}));
            })));
        return results.size() == 1 ? results[0] : browse_result{0xFFFFFFFF};
    }
};

TEST_F(viewing, objects_hold_the_server_and_the_connections) {
    const browse_result out = browse({"#85"});
    EXPECT_EQ(out.result, status::good);
    EXPECT_TRUE(out.point_is_null);
    const std::set<std::string> names = out.names();
    for (const char* name : {"0:Server", "2:DeviceSet", "3:press", "3:big"}) {
        EXPECT_TRUE(names.contains(name)) << name;
    }
}

TEST_F(viewing, connections_are_devices_and_groups_are_folders) {
    EXPECT_EQ(browse({"2#5001"}).names(),
              (std::set<std::string>{"2:DeviceFeatures", "3:press", "3:big"}));
    const browse_result press = browse({"press"});
    EXPECT_EQ(press.names(), with_nameplate({"3:tank", "3:recipe", "3:array"}));
    const browse_result tank = browse({"press/tank"});
    ASSERT_EQ(tank.references.size(), 1U);
    EXPECT_EQ(tank.references[0].node, "press/tank/level");
    EXPECT_EQ(tank.references[0].node_class, 2U);
    EXPECT_EQ(tank.references[0].type_definition, "#2365");
    EXPECT_EQ(tank.references[0].type, "#35");
    EXPECT_EQ(tank.references[0].display_name, "level");
}

TEST_F(viewing, every_way_down_leads_up_again) {
    for (const char* node : {"press", "press/tank", "press/tank/level"}) {
        const browse_result up = browse({node, 1});
        EXPECT_FALSE(up.references.empty()) << node;
        for (const one_reference& reference : up.references) {
            bool found = false;
            for (const one_reference& down : browse({reference.node}).references) {
                found = found || (down.node == node && down.type == reference.type);
            }
            EXPECT_TRUE(found) << node << " from " << reference.node;
        }
    }
}

TEST_F(viewing, every_reference_of_the_standard_is_seen_from_both_ends) {
    using triple = std::tuple<std::string, std::string, std::string>;
    std::set<triple> forward;
    std::set<triple> inverse;
    for (std::uint32_t at = 0; at < standard_node_count; at += 100) {
        std::vector<description> nodes;
        for (std::uint32_t row = at; row < std::min<std::size_t>(at + 100, standard_node_count);
             ++row) {
            const standard_node& node = standard_nodes[row];
            nodes.push_back(
                {std::to_string(node.namespace_index) + "#" + std::to_string(node.number), 2,
                 "#0"});
        }
        const auto results = parse_results(client.call(browse_request(client, nodes)));
        ASSERT_EQ(results.size(), nodes.size());
        for (std::size_t which = 0; which < results.size(); ++which) {
            std::string self = nodes[which].node;
            self = self.starts_with("0#") ? self.substr(1) : self;
            for (const one_reference& each : results[which].references) {
                if (!each.node.starts_with("#") && !each.node.starts_with("2#")) {
                    continue;
                }
                (each.is_forward ? forward : inverse)
                    .insert(each.is_forward ? triple{self, each.type, each.node}
                                            : triple{each.node, each.type, self});
            }
        }
    }
    EXPECT_GT(forward.size(), 12'000U);
    EXPECT_EQ(forward, inverse);
}

TEST_F(viewing, edge_E35_every_object_and_variable_has_its_type) {
    for (std::uint32_t row = 0; row < standard_node_count; ++row) {
        if (standard_nodes[row].node_class <= 2) {
            EXPECT_NE(standard::type_definition(row), standard::no_row)
                << standard_nodes[row].number;
        }
    }
    for (const one_reference& each : browse({"#93"}).references) {
        EXPECT_EQ(each.type_definition == "#0", each.node_class != 1 && each.node_class != 2);
    }
}

TEST_F(viewing, edge_E36_a_null_reference_type_is_any) {
    const browse_result any = browse({"press/tank/level", 2, "#0"});
    EXPECT_EQ(any.references.size(), 2U);  // its type and its parent
}

TEST_F(viewing, masks_and_directions_are_kept) {
    const browse_result variables = browse({"press", 0, "#33", true, 2});
    EXPECT_EQ(variables.names(), with_nameplate({"3:array"}));
    const browse_result bare = browse({"press", 0, "#33", true, 0, 0});
    ASSERT_EQ(bare.references.size(), 3U + nameplate.size());
    EXPECT_EQ(bare.references[0].type, "#0");
    EXPECT_EQ(bare.references[0].browse_name, "0:");
    EXPECT_EQ(bare.references[0].node_class, 0U);
    EXPECT_EQ(bare.references[0].type_definition, "#0");
    EXPECT_TRUE(browse({"press", 0, "#33", false}).references.empty());
    EXPECT_EQ(browse({"press", 3}).result, status::bad_browse_direction_invalid);
    EXPECT_EQ(browse({"press", 0, "#85"}).result, status::bad_reference_type_id_invalid);
    EXPECT_EQ(browse({"press", 0, "#59999"}).result, status::bad_reference_type_id_invalid);
    EXPECT_EQ(browse({"nobody"}).result, status::bad_node_id_unknown);
    EXPECT_EQ(browse({"#0"}).result, status::bad_node_id_invalid);
}

TEST_F(viewing, no_views_exist_and_an_empty_list_is_nothing_to_do) {
    status_code service = 0;
    parse_results(client.call(browse_request(client, {{"#85"}}, 0, 87)), &service);
    EXPECT_EQ(service, status::bad_view_id_unknown);
    parse_results(client.call(browse_request(client, {})), &service);
    EXPECT_EQ(service, status::bad_nothing_to_do);
}

TEST_F(viewing, edge_E37_continuation_points_give_every_reference_once) {
    for (const std::uint32_t most : {1U, 7U, 16U, 17U, 50U, 99U}) {
        std::multiset<std::string> seen;
        browse_result out = browse({"big"}, most);
        for (;;) {
            ASSERT_EQ(out.result, status::good);
            EXPECT_LE(out.references.size(), most);
            EXPECT_FALSE(out.references.empty());
            for (const one_reference& each : out.references) {
                seen.insert(each.node);
            }
            if (out.point_is_null) {
                break;
            }
            out = next(out.point);
        }
        EXPECT_EQ(seen.size(), references_of_big) << most;
        EXPECT_EQ((std::set<std::string>{seen.begin(), seen.end()}).size(), references_of_big);
    }
    EXPECT_TRUE(browse({"big"}, references_of_big).point_is_null);
}

TEST_F(viewing, edge_E37_a_point_is_used_once_by_its_session_or_released) {
    const browse_result first = browse({"big"}, 10);
    ASSERT_FALSE(first.point_is_null);
    raw_client other = site.connect();
    other.open_session();
    const auto foreign =
        parse_results(other.call(other.request(id::browse_next_request_binary, [&](encoder& out) {
            out.boolean(false);
            out.u32(1);
            out.byte_string(std::as_bytes(std::span{first.point.data(), first.point.size()}));
        })));
    EXPECT_EQ(foreign[0].result, status::bad_continuation_point_invalid);
    EXPECT_EQ(next(first.point).result, status::good);
    EXPECT_EQ(next(first.point).result, status::bad_continuation_point_invalid);
    const browse_result second = browse({"big"}, 10);
    const browse_result released = next(second.point, true);
    EXPECT_EQ(released.result, status::good);
    EXPECT_TRUE(released.references.empty());
    EXPECT_EQ(next(second.point).result, status::bad_continuation_point_invalid);
    EXPECT_EQ(next("nonsense").result, status::bad_continuation_point_invalid);
    EXPECT_EQ(next("").result, status::bad_continuation_point_invalid);
}

TEST_F(viewing, edge_E37_with_none_left_the_item_says_so_and_the_session_gets_them_back) {
    std::vector<description> many(bounds.max_continuation_points_per_session + 1, {"big"});
    const auto results = parse_results(client.call(browse_request(client, many, 10)));
    for (std::size_t at = 0; at + 1 < results.size(); ++at) {
        EXPECT_FALSE(results[at].point_is_null);
    }
    EXPECT_EQ(results.back().result, status::bad_no_continuation_points);
    EXPECT_TRUE(results.back().point_is_null);
    EXPECT_EQ(site.host->statistics().continuation_points,
              bounds.max_continuation_points_per_session);
    client.call(
        client.request(id::close_session_request_binary, [](encoder& out) { out.boolean(true); }));
    EXPECT_EQ(site.host->statistics().continuation_points, 0U);
    client.create_session();
    client.activate();
    EXPECT_FALSE(browse({"big"}, 10).point_is_null);
}

TEST_F(viewing, a_great_browse_takes_several_turns) {
    client.driver.yields = 0;
    const std::vector<description> many(300, {"big"});
    const auto results = parse_results(client.call(browse_request(client, many)));
    EXPECT_EQ(results.size(), 300U);
    for (const browse_result& each : results) {
        ASSERT_EQ(each.references.size(), references_of_big);
    }
    EXPECT_GT(client.driver.yields, 10U);
}

struct path_element {
    std::string type = "#33";
    bool inverse = false;
    bool subtypes = true;
    std::uint16_t space = 3;
    std::string name{};
};

struct path_result {
    status_code result = 0;
    std::vector<std::string> targets{};
};

std::vector<path_result> translate(raw_client& client, const std::string& start,
                                   const std::vector<path_element>& path,
                                   status_code* service = nullptr) {
    const reply message = client.call(
        client.request(id::translate_browse_paths_to_node_ids_request_binary, [&](encoder& out) {
            out.u32(1);
            raw_client::write_id(out, start);
            out.u32(static_cast<std::uint32_t>(path.size()));
            for (const path_element& each : path) {
                raw_client::write_id(out, each.type);
                out.boolean(each.inverse);
                out.boolean(each.subtypes);
                out.qualified_name(each.space, each.name);
            }
        }));
    bytes rest;
    const status_code result = raw_client::result_of(message, nullptr, &rest);
    if (service != nullptr) {
        *service = result;
    }
    decoder in{rest, bounds};
    std::vector<path_result> out;
    for (std::uint32_t left = in.array_length(1); left != 0 && in.ok(); --left) {
        path_result one{in.u32(), {}};
        for (std::uint32_t more = in.array_length(1); more != 0; --more) {
            one.targets.push_back(text_of(in.expanded_node_id().id));
            EXPECT_EQ(in.u32(), 0xFFFFFFFFU);
        }
        out.push_back(one);
    }
    return out;
}

TEST_F(viewing, paths_lead_to_tags_and_to_the_standards_nodes) {
    const auto tag = translate(client, "#85",
                               {{"#33", false, true, 3, "press"},
                                {"#33", false, true, 3, "tank"},
                                {"#33", false, true, 3, "level"}});
    EXPECT_EQ(tag[0].result, status::good);
    EXPECT_EQ(tag[0].targets, std::vector<std::string>{"press/tank/level"});
    const auto state = translate(client, "#84",
                                 {{"#35", false, true, 0, "Objects"},
                                  {"#35", false, true, 0, "Server"},
                                  {"#47", false, true, 0, "ServerStatus"},
                                  {"#47", false, true, 0, "State"}});
    EXPECT_EQ(state[0].targets, std::vector<std::string>{"#2259"});
    const auto up = translate(client, "press/tank/level", {{"#35", true, true, 3, "tank"}});
    EXPECT_EQ(up[0].targets, std::vector<std::string>{"press/tank"});
    const auto any = translate(client, "press", {{"#0", false, false, 3, "array"}});
    EXPECT_EQ(any[0].targets, std::vector<std::string>{"press/array"});
}

TEST_F(viewing, paths_that_lead_nowhere_say_why) {
    const auto result = [&](const std::string& start, const std::vector<path_element>& path) {
        return translate(client, start, path)[0].result;
    };
    const path_element press{"#33", false, true, 3, "press"};
    EXPECT_EQ(result("#85", {}), status::bad_nothing_to_do);
    EXPECT_EQ(result("#59999", {press}), status::bad_node_id_unknown);
    EXPECT_EQ(result("#0", {press}), status::bad_node_id_invalid);
    EXPECT_EQ(result("#85", {{"#33", false, true, 3, "none"}}), status::bad_no_match);
    EXPECT_EQ(result("#85", {{"#33", true, true, 3, "press"}}), status::bad_no_match);
    EXPECT_EQ(result("#85", {{"#33", false, false, 3, "press"}}), status::bad_no_match);
    EXPECT_EQ(result("#85", {{"#85", false, true, 3, "press"}}), status::bad_no_match);
    EXPECT_EQ(result("#85", {{"#59999", false, true, 3, "press"}}), status::bad_no_match);
    EXPECT_EQ(result("#85", {press, {"#33", false, true, 3, ""}}), status::bad_browse_name_invalid);
    EXPECT_EQ(result("#85", {{"#33", false, true, 3, ""}, press}), status::bad_browse_name_invalid);
    EXPECT_EQ(result("#85", std::vector<path_element>(65, press)), status::bad_query_too_complex);
}

// CVE-2022-29866 and its like: paths that are short to write and long to follow.
TEST_F(viewing, a_path_that_leads_through_too_much_is_cut_off) {
    limits few;
    few.max_references_per_path = 100;
    plant tight{few};
    raw_client asking = tight.connect();
    asking.open_session();
    // PropertyType is the type of thousands of nodes.
    EXPECT_EQ(translate(asking, "#68", {{"#0", true, true, 0, "InputArguments"}})[0].result,
              status::bad_query_too_complex);
    EXPECT_EQ(translate(client, "#68", {{"#0", true, true, 0, "InputArguments"}})[0].result,
              status::bad_too_many_matches);
}

TEST_F(viewing, a_filter_that_passes_nothing_of_very_much_ends_all_the_same) {
    site.gateway.add_tag("wide/group/t", builtin_type::byte, bytes(1));
    for (int count = 0; count < 2'000; ++count) {
        site.gateway.add_tag("wide/t" + std::to_string(count), builtin_type::byte, bytes(1));
    }
    browse_result out = browse({"wide", 0, "#33", true, 1}, 1);
    std::size_t found = out.references.size();
    for (int calls = 0; !out.point_is_null; ++calls) {
        ASSERT_LT(calls, 10);
        out = next(out.point);
        ASSERT_EQ(out.result, status::good);
        found += out.references.size();
    }
    EXPECT_EQ(found, 1U);
}

TEST_F(viewing, register_gives_numbers_that_only_their_session_knows) {
    const auto registered = [&](raw_client& who, const std::vector<std::string>& nodes) {
        const reply message =
            who.call(who.request(id::register_nodes_request_binary, [&](encoder& out) {
                out.u32(static_cast<std::uint32_t>(nodes.size()));
                for (const std::string& each : nodes) {
                    raw_client::write_id(out, each);
                }
            }));
        bytes rest;
        EXPECT_EQ(raw_client::result_of(message, nullptr, &rest), status::good);
        decoder in{rest, bounds};
        std::vector<std::string> out;
        for (std::uint32_t left = in.array_length(1); left != 0; --left) {
            out.push_back(text_of(in.node_id()));
        }
        return out;
    };
    const auto read_status = [&](raw_client& who, const std::string& node) {
        bytes rest;
        raw_client::result_of(who.call(who.read_request({node})), nullptr, &rest);
        decoder in{rest, bounds};
        in.array_length(1);
        return in.data_value().status;
    };
    const auto aliases =
        registered(client, {"press/tank/level", "press/tank/level", "unknown", "#2258", "9#1"});
    ASSERT_EQ(aliases.size(), 5U);
    EXPECT_TRUE(aliases[0].starts_with("3#"));
    EXPECT_EQ(aliases[2], "unknown");
    EXPECT_EQ(aliases[3], "#2258");
    EXPECT_EQ(aliases[4], "9#1");
    EXPECT_EQ(site.host->statistics().registered_nodes, 2U);
    EXPECT_EQ(read_status(client, aliases[0]), status::good);
    raw_client other = site.connect();
    other.open_session();
    EXPECT_EQ(read_status(other, aliases[0]), status::bad_node_id_unknown);

    const auto unregister = [&](const std::string& node) {
        return raw_client::result_of(
            client.call(client.request(id::unregister_nodes_request_binary, [&](encoder& out) {
                out.u32(1);
                raw_client::write_id(out, node);
            })));
    };
    EXPECT_EQ(unregister("press/tank/level"), status::good);  // the source is not the alias
    EXPECT_EQ(read_status(client, aliases[0]), status::good);
    EXPECT_EQ(unregister(aliases[0]), status::good);
    EXPECT_EQ(read_status(client, aliases[0]), status::bad_node_id_unknown);
    EXPECT_EQ(unregister(aliases[0]), status::good);
    // The place is used again, the number is not.
    const auto later = registered(client, {"press/array"});
    EXPECT_NE(later[0], aliases[0]);
    EXPECT_EQ(read_status(client, aliases[0]), status::bad_node_id_unknown);
}

}  // namespace
}  // namespace tagferry::opcua::test
