#include "gateway/log/line.hpp"

#include "gateway/config/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tagferry::gateway::log {

namespace {

// Room kept free so that `truncated` and the closing bracket always fit.
constexpr std::size_t tail_bytes = 24;

class line_writer {
  public:
    line_writer(line& out, bool json) noexcept : out_(out), json_(json) { out_.size = 0; }

    void begin() noexcept {
        if (json_) {
            put("{");
        }
    }

    void end() noexcept {
        limit_ = max_line_bytes;
        if (truncated_) {
            name("truncated");
            put("true");
        }
        if (json_) {
            put("}");
        }
    }

    // A field that does not fit leaves no trace but the mark at the end.
    template <class Write>
    void add(std::string_view name_text, Write write) noexcept {
        const std::size_t before = out_.size;
        full_ = false;
        name(name_text);
        write(*this);
        if (full_) {
            out_.size = before;
            truncated_ = true;
        }
    }

    void text(std::string_view value) noexcept {
        const bool cut = value.size() > max_text_bytes;
        value = value.substr(0, max_text_bytes);
        const bool quoted = json_ || cut || needs_quotes(value);
        put(quoted ? "\"" : "");
        for (std::size_t offset = 0; offset < value.size();) {
            const std::size_t length = config::utf8_character_length(value, offset);
            if (length == 0) {
                put(cut && value.size() - offset < 4 ? "" : "\xEF\xBF\xBD");
            } else {
                character(value.substr(offset, length));
            }
            offset += std::max<std::size_t>(length, 1);
        }
        put(cut ? "…" : "");
        put(quoted ? "\"" : "");
    }

    template <class Value>
    void print(fmt::string_view format, Value value) noexcept {
        const std::size_t room = limit_ - out_.size;
        const auto written = fmt::vformat_to_n(out_.bytes.data() + out_.size, room, format,
                                               fmt::make_format_args(value));
        full_ = full_ || written.size > room;
        out_.size += std::min(written.size, room);
    }

    void put(std::string_view bytes) noexcept {
        if (bytes.size() > limit_ - out_.size) {
            full_ = true;
            return;
        }
        std::copy(bytes.begin(), bytes.end(), out_.bytes.data() + out_.size);
        out_.size += bytes.size();
    }

    bool json() const noexcept { return json_; }

  private:
    void name(std::string_view text_name) noexcept {
        const bool first = out_.size == (json_ ? 1U : 0U);
        if (json_) {
            put(first ? "\"" : ",\"");
            put(text_name);
            put("\":");
        } else {
            put(first ? "" : " ");
            put(text_name);
            put("=");
        }
    }

    static bool needs_quotes(std::string_view value) noexcept {
        return value.empty() || std::any_of(value.begin(), value.end(), [](char letter) {
                   const auto byte = static_cast<unsigned char>(letter);
                   return byte <= ' ' || byte == 0x7F || letter == '"' || letter == '=' ||
                          letter == '\\' || byte >= 0x80;
               });
    }

    void character(std::string_view bytes) noexcept {
        const auto first = static_cast<unsigned char>(bytes[0]);
        if (first == '"' || first == '\\') {
            put("\\");
            put(bytes);
        } else if (first == '\n') {
            put("\\n");
        } else if (first < 0x20 || first == 0x7F) {
            print("\\u{:04x}", static_cast<unsigned>(first));
        } else {
            put(bytes);
        }
    }

    line& out_;
    const bool json_;
    std::size_t limit_ = max_line_bytes - tail_bytes;
    bool full_ = false;
    bool truncated_ = false;
};

void write_real(line_writer& writer, double value) noexcept {
    if (std::isfinite(value)) {
        writer.print("{}", value);
        return;
    }
    const std::string_view word = std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
    writer.put(writer.json() ? "\"" : "");
    writer.put(word);
    writer.put(writer.json() ? "\"" : "");
}

void write_value(line_writer& writer, const field& value) noexcept {
    switch (value.type()) {
        case field::kind::text:
            writer.text(value.text());
            break;
        case field::kind::signed_number:
            writer.print("{}", static_cast<std::int64_t>(value.number()));
            break;
        case field::kind::unsigned_number:
            writer.print("{}", value.number());
            break;
        case field::kind::real:
            write_real(writer, value.real());
            break;
        case field::kind::flag:
            writer.put(value.number() != 0 ? "true" : "false");
            break;
        case field::kind::secret:
            writer.text("***");
            break;
    }
}

}  // namespace

std::size_t format_time(std::span<char, 24> out, transport::wall_time_ns now) noexcept {
    using namespace std::chrono;
    const sys_time<milliseconds> time{floor<milliseconds>(nanoseconds{now})};
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{time - day};
    // Years past 9999 would not fit the form; a wall clock that says so is wrong anyway.
    const int year = std::clamp(static_cast<int>(date.year()), 0, 9'999);
    fmt::format_to_n(out.data(), out.size(), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", year,
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
    return out.size();
}

void format_line(line& out, config::log_format format, event code, transport::wall_time_ns now,
                 std::span<const field> fields, std::uint64_t repeats) noexcept {
    const event_description& row = describe(code);
    line_writer writer{out, format == config::log_format::json};
    std::array<char, 24> time;
    const std::string_view written{time.data(), format_time(time, now)};
    writer.begin();
    writer.add("ts", [&](line_writer& each) { each.text(written); });
    writer.add("level", [&](line_writer& each) { each.text(level_word(row.importance)); });
    writer.add("event", [&](line_writer& each) { each.text(row.id); });
    writer.add("msg", [&](line_writer& each) { each.text(row.words); });
    if (repeats != 0) {
        writer.add("repeats", [&](line_writer& each) { each.print("{}", repeats); });
    }
    for (const field& value : fields) {
        writer.add(value.name(), [&](line_writer& each) { write_value(each, value); });
    }
    writer.end();
}

}  // namespace tagferry::gateway::log
