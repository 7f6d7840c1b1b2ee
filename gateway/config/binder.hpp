// From written values to the members of the configuration, by the description.
#pragma once

#include "gateway/config/field.hpp"
#include "gateway/config/located_tree.hpp"
#include "gateway/config/location.hpp"

#include <string_view>
#include <vector>

namespace tagferry::gateway::config {

/// Fills `target`, an object of the described kind, from an object of the tree. Whatever is wrong
/// (unknown keys, missing ones, wrong types, ranges) goes to `found`, all of it; members that
/// could not be filled keep their default.
void bind_object(const located_tree& tree, const node& value, const object_description& object,
                 void* target, diagnostics& found);

/// Sets a field from the text of a cell, a variable or a flag. Booleans are `true` and `false`,
/// list elements are separated by commas; objects and lists of objects are refused.
void assign_text(const field& described, void* target, std::string_view text, location at,
                 diagnostics& found);

/// The names of the object's fields, for suggestions.
std::vector<std::string_view> field_names(const object_description& object);

}  // namespace tagferry::gateway::config
