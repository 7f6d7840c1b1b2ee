#include "gateway/config/load.hpp"

#include "gateway/config/binder.hpp"
#include "gateway/config/checks.hpp"
#include "gateway/config/fields.hpp"
#include "gateway/config/located_tree.hpp"
#include "gateway/config/overrides.hpp"
#include "gateway/config/tag_file.hpp"
#include "gateway/config/tokens.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

namespace tagferry::gateway::config {

namespace {

// Nothing when the file cannot be read, with the reason in `reason`.
std::optional<std::string> read_file(const std::filesystem::path& file, std::string& reason) {
    std::error_code fault;
    if (std::filesystem::is_directory(file, fault)) {
        reason = "it is a folder";
        return std::nullopt;
    }
    errno = 0;
    std::ifstream stream{file, std::ios::binary};
    if (!stream) {
        reason = std::generic_category().message(errno != 0 ? errno : EIO);
        return std::nullopt;
    }
    return std::string{std::istreambuf_iterator<char>{stream}, {}};
}

void read_tag_files(connection& link, std::string_view folder, diagnostics& found) {
    for (const std::string& name : link.tag_files) {
        if (folder.empty()) {
            found.error(link.tag_files_at, "side files cannot be read here");
            return;
        }
        const std::filesystem::path file = std::filesystem::path{folder} / name;
        std::string reason;
        std::optional<std::string> text = read_file(file, reason);
        if (!text) {
            found.error(link.tag_files_at, "\"" + name + "\" cannot be read: " + reason,
                        "looked for " + file.string());
            continue;
        }
        const std::uint32_t source = found.add_source(file.string());
        read_tag_file(std::move(*text), source, link, found);
    }
}

void bind_file(std::string text, std::string_view name, std::string_view folder,
               load_result& result) {
    const std::uint32_t source = result.found.add_source(name);
    const located_tree tree = located_tree::read(std::move(text), source, result.found);
    const node* root = tree.root();
    if (root == nullptr || root->kind == node_kind::unusable) {
        return;
    }
    if (root->kind != node_kind::object) {
        result.found.error(tree.at(*root), "the configuration is an object: {…}");
        return;
    }
    bind_object(tree, *root, configuration_description(), &result.value, result.found);
    for (connection& link : result.value.connections) {
        read_tag_files(link, folder, result.found);
    }
}

void finish(load_result& result, std::string_view folder, const load_options& options) {
    apply_environment(options.environment, result.value, result.found);
    apply_flags(options.flags, result.value, result.found);
    resolve(result.value);
    read_tokens(result.value, folder, result.found);
    const address_checker& addresses =
        options.addresses != nullptr ? *options.addresses : s7_address_checker();
    check(result.value, addresses, result.found);
    result.found.sort();
}

}  // namespace

load_result load_text(std::string_view text, std::string_view name, std::string_view folder,
                      const load_options& options) {
    load_result result;
    bind_file(std::string{text}, name, folder, result);
    finish(result, folder, options);
    return result;
}

load_result load(const load_options& options) {
    if (options.file.empty()) {
        load_result result;
        finish(result, ".", options);
        return result;
    }
    if (options.file == "-") {
        const std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
        return load_text(text, "standard input", ".", options);
    }
    std::string reason;
    const std::optional<std::string> text = read_file(options.file, reason);
    if (!text) {
        load_result result;
        const std::uint32_t source = result.found.add_source(options.file);
        result.found.error({source, 0, 0}, "cannot be read: " + reason, "name it with -c FILE");
        // How it is said is settled by environment and flags all the same.
        apply_environment(options.environment, result.value, result.found);
        apply_flags(options.flags, result.value, result.found);
        return result;
    }
    const std::filesystem::path folder = std::filesystem::path{options.file}.parent_path();
    return load_text(*text, options.file, folder.empty() ? "." : folder.string(), options);
}

}  // namespace tagferry::gateway::config
