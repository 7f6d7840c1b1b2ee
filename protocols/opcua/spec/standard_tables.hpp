// The generated tables of namespaces 0 and 2 (Device Integration): their shape.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagferry::opcua {

/// One node; rows are sorted by (namespace, number), and a closing row ends the ranges of the
/// last one.
struct standard_node {
    std::uint16_t number;           ///< numeric identifier
    std::uint8_t namespace_index;   ///< 0 or 2
    std::uint8_t node_class;        ///< NodeClass of Part 3 §8.29
    std::uint16_t browse_name;      ///< a string number
    std::uint8_t browse_namespace;  ///< 0 or 2
    std::int8_t value_rank;
    std::uint16_t display_name;  ///< a string number
    std::uint16_t text;          ///< description, or inverse name of a reference type
    std::uint16_t data_type;     ///< row of the data type, variables and variable types only
    std::uint8_t access_level;
    std::uint8_t flags;             ///< of `standard_flag`
    std::uint32_t first_reference;  ///< its references end where the next row's begin
    std::uint32_t first_value;      ///< its value likewise: an encoded Variant, or nothing
};

enum standard_flag : std::uint8_t {
    standard_is_abstract = 1,
    standard_is_symmetric = 2,
    standard_has_events = 4,
};

extern const standard_node standard_nodes[];
extern const std::size_t standard_node_count;

/// Target row, reference type number << 16, 1 << 24 when forward. Both directions are listed.
extern const std::uint32_t standard_references[];

struct standard_reference_type {
    std::uint16_t row;
    std::uint8_t parent;  ///< number of the supertype; 255: none
};
extern const standard_reference_type standard_reference_types[];
extern const std::size_t standard_reference_type_count;

struct standard_sampling {
    std::uint16_t row;
    float minimum_interval_ms;
};
extern const standard_sampling standard_samplings[];
extern const std::size_t standard_sampling_count;

struct standard_dimensions {
    std::uint16_t row;
    std::uint8_t count;
    std::uint16_t sizes[3];
};
extern const standard_dimensions standard_dimension_rows[];
extern const std::size_t standard_dimension_count;

/// String n is the bytes from offset n to offset n + 1.
extern const std::uint32_t standard_string_offsets[];
extern const char standard_string_bytes[];
extern const char standard_value_bytes[];

}  // namespace tagferry::opcua
