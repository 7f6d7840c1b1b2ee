// Writes OPC UA Binary (Part 6 §5.2) straight into the chunks that go on the wire.
#pragma once

#include "protocols/opcua/encoding/views.hpp"
#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "transport/bytes/endian.hpp"
#include "transport/time/clock.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::opcua {

/// Gives an encoder the next piece of memory when one is full.
class chunk_source {
  public:
    /// @param used bytes of the piece given before that hold data.
    /// @param next the next piece, at least 1,024 bytes; memory given before stays in place.
    /// @return Good, or why there is no more.
    virtual status_code next_chunk(std::size_t used, std::span<std::byte>& next) = 0;

  protected:
    ~chunk_source() = default;
};

/// DateTime of Part 6 §5.2.2.5 from wall time: 0 stays 0 (no time).
constexpr std::int64_t date_time_ticks(transport::wall_time_ns since_1970) noexcept {
    return since_1970 == 0 ? 0 : since_1970 / 100 + 116'444'736'000'000'000;
}

/// Sticky error. Numbers are never split over two pieces; byte runs are.
class encoder {
  public:
    /// @param first where to begin.
    /// @param more asked when it is full; null: that is an error (BadEncodingLimitsExceeded).
    explicit encoder(std::span<std::byte> first, chunk_source* more = nullptr) noexcept
        : more_(more) {
        begin(first);
    }

    template <transport::wire_scalar T>
    void write(T value) noexcept {
        if (std::byte* const to = claim(sizeof(T))) {
            transport::store<T>(to, value, std::endian::little);
        }
    }
    void u8(std::uint8_t value) noexcept { write(value); }
    void u16(std::uint16_t value) noexcept { write(value); }
    void u32(std::uint32_t value) noexcept { write(value); }
    void i32(std::int32_t value) noexcept { write(value); }
    void i64(std::int64_t value) noexcept { write(value); }
    void boolean(bool value) noexcept { write<std::uint8_t>(value ? 1 : 0); }
    void float64(double value) noexcept { write(value); }

    void raw(bytes_view bytes) noexcept;
    void string(text_view text) noexcept;           ///< null when `data()` is null
    void byte_string(bytes_view bytes) noexcept;    ///< likewise
    void node_id(const node_id_view& id) noexcept;  ///< in the smallest form
    void numeric_id(std::uint16_t namespace_index, std::uint32_t number) noexcept;
    void expanded_node_id(const node_id_view& id) noexcept { node_id(id); }
    void expanded_node_id(const expanded_node_id_view& id) noexcept;
    void qualified_name(std::uint16_t namespace_index, text_view name) noexcept;
    void localized_text(text_view text, text_view locale = {}) noexcept;
    void extension_object(const extension_object_view& object) noexcept;
    void null_extension_object() noexcept;
    /// A Variant of a value in slot form; a `null` type gives the null Variant.
    void variant(const value_view& value) noexcept;
    void variant_head(builtin_type type) noexcept { u8(static_cast<std::uint8_t>(type)); }
    void variant_array_head(builtin_type type, std::uint32_t count) noexcept;
    /// A Variant as it was decoded, unchanged.
    void variant(const variant_view& value) noexcept;
    void data_value(const data_value_view& value) noexcept;
    void diagnostic_info(const diagnostic_info_view& info) noexcept;

    // One element as `decoder::element` gave it, unchanged but for NodeIds, which take their
    // smallest form.
    void element(bool value) noexcept { boolean(value); }
    template <transport::wire_scalar T>
    void element(T value) noexcept {
        write(value);
    }
    void element(text_view text) noexcept { string(text); }
    void element(bytes_view bytes) noexcept { byte_string(bytes); }
    void element(const guid_view& guid) noexcept { raw(guid.bytes); }
    void element(const xml_view& xml) noexcept { byte_string(xml.text); }
    void element(const node_id_view& id) noexcept { node_id(id); }
    void element(const expanded_node_id_view& id) noexcept { expanded_node_id(id); }
    void element(const qualified_name_view& name) noexcept {
        qualified_name(name.namespace_index, name.name);
    }
    void element(const localized_text_view& text) noexcept;
    void element(const extension_object_view& object) noexcept { extension_object(object); }
    void element(const variant_view& value) noexcept { variant(value); }
    void element(const data_value_view& value) noexcept { data_value(value); }
    void element(const diagnostic_info_view& info) noexcept { diagnostic_info(info); }

    /// Leaves room for a number to be known later. Null once the encoder has failed.
    template <transport::wire_scalar T>
    std::byte* reserve() noexcept {
        return claim(sizeof(T));
    }
    template <transport::wire_scalar T>
    static void patch(std::byte* where, T value) noexcept {
        if (where != nullptr) {
            transport::store<T>(where, value, std::endian::little);
        }
    }

    /// Room for at least `count` bytes in one piece, for a writer that knows its form; `commit`
    /// then says where it ended. Null once the encoder has failed.
    std::byte* room_for(std::size_t count) noexcept {
        return static_cast<std::size_t>(end_ - at_) >= count || advance(count) ? at_ : nullptr;
    }
    void commit(std::byte* end) noexcept { at_ = end; }

    void fail(status_code why) noexcept;
    bool ok() const noexcept { return status_ == status::good; }
    status_code status() const noexcept { return status_; }
    /// Bytes written to the current piece.
    std::size_t used() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
    /// Starts anew in `first`, clearing any error.
    void begin(std::span<std::byte> first) noexcept {
        begin_ = at_ = first.data();
        end_ = first.data() + first.size();
        status_ = status::good;
    }

  private:
    std::byte* claim(std::size_t count) noexcept {
        if (static_cast<std::size_t>(end_ - at_) < count && !advance(count)) {
            return nullptr;
        }
        std::byte* const to = at_;
        at_ += count;
        return to;
    }
    bool advance(std::size_t count) noexcept;
    void node_id(const node_id_view& id, std::uint8_t flags) noexcept;
    void numeric_id(std::uint16_t namespace_index, std::uint32_t number,
                    std::uint8_t flags) noexcept;
    void slot_strings(const value_view& value) noexcept;

    std::byte* begin_ = nullptr;
    std::byte* at_ = nullptr;
    std::byte* end_ = nullptr;
    chunk_source* more_;
    status_code status_ = status::good;
};

}  // namespace tagferry::opcua
