// The generated table of engineering units: UN/ECE Recommendation 20 as Part 8 §5.6.3.4 maps it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tagferry::opcua {

/// Rows are sorted by name, byte by byte.
struct unit_row {
    std::uint32_t begin;            ///< in `unit_bytes`: the name, then the description
    std::uint8_t name_size;         ///< e.g. "mm"
    std::uint8_t description_size;  ///< e.g. "millimetre"
    std::int32_t number;            ///< UnitId of EUInformation
};

extern const unit_row unit_rows[];
extern const std::size_t unit_count;
extern const char unit_bytes[];

}  // namespace tagferry::opcua
