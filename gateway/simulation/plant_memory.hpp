// The memory of a demo PLC, reached by the paths of its tags.
#pragma once

#include "protocols/s7/simulator/memory.hpp"
#include "protocols/s7/types/address.hpp"
#include "protocols/s7/types/data_type.hpp"

#include <cstddef>
#include <map>
#include <string_view>

namespace tagferry::gateway {

/// On the shard of the PLC, or while it does not run. Paths are those of the plant's table: an
/// unknown one is a fault of the caller and throws std::out_of_range.
class plant_memory {
  public:
    /// @param plc of the plant, 0 or 1. @param memory has the plant's blocks; outlives this.
    plant_memory(std::size_t plc, s7::plc_memory& memory);

    /// Stores a number as the type of the tag; of an array one element. A BOOL is set by anything
    /// but 0. Numbers past the type's range become its nearest.
    void set(std::string_view path, double value, std::size_t element = 0);
    double get(std::string_view path, std::size_t element = 0) const;
    void set_text(std::string_view path, std::string_view utf8);

  private:
    struct point {
        s7::address where;
        s7::data_type type;
    };
    std::byte* bytes_of(const point& of, std::size_t element) const;

    s7::plc_memory& memory_;
    std::map<std::string_view, point> points_;
};

}  // namespace tagferry::gateway
