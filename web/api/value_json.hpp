// Values and rows as the interface shows them.
#pragma once

#include "web/backend/browse.hpp"
#include "web/backend/connections.hpp"
#include "web/backend/value.hpp"
#include "web/backend/values.hpp"
#include "web/http/output_chain.hpp"

namespace tagferry::web {

/// One JSON value; an array for an array. 64-bit integers are strings, NaN and infinities the
/// strings "NaN", "Infinity", "-Infinity", byte strings base64, times RFC 3339. A view whose bytes
/// do not hold its elements is `null`.
void put_json_value(output_chain& out, const value_view& value) noexcept;

/// `{"path","value","status","reason","source_timestamp","server_timestamp"}`, and `last_good`
/// with `value` and `source_timestamp` where the status is not Good and there was one.
void put_json_row(output_chain& out, const value_row& row) noexcept;

/// `{"path","node_id","type","access","scan_class","unit","description"}`.
void put_json_row(output_chain& out, const tag_row& row) noexcept;

/// `{"path","name","kind","node_id","type","has_children"}`.
void put_json_row(output_chain& out, const node_row& row) noexcept;

void put_json_row(output_chain& out, const connection_row& row) noexcept;

}  // namespace tagferry::web
