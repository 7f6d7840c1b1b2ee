// One response being written: its head, how its end is marked on the wire, and what happens when
// it grows past what may be buffered.
//
// A body is written straight into the output. If it is complete before anything had to be sent,
// its length is patched into the head. If it has to pause first, the same 26 bytes of the head
// become `Transfer-Encoding: chunked` and each portion becomes one chunk; an HTTP/1.0 client gets
// a body that ends with the connection.
#pragma once

#include "web/http/output_chain.hpp"
#include "web/http/request.hpp"
#include "web/http/status.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tagferry::web {

/// An error as RFC 9457 shows it. All views are static except `subject`, `pointer` and `members`.
struct problem {
    http_status status = http_status::internal_error;
    std::string_view code = {};     ///< stable, lower-case: the last part of `type`
    std::string_view detail = {};   ///< what is wrong, one sentence
    std::string_view hint = {};     ///< what to do about it; empty: nothing to say
    std::string_view subject = {};  ///< what it is about, e.g. a path, any bytes; empty: none
    std::string_view pointer = {};  ///< JSON Pointer into the body to what is wrong; empty: none
    std::string_view members = {};  ///< further members, as JSON with a comma before each
    std::string_view allow = {};    ///< value of an Allow field; empty: none
    bool retry = false;             ///< adds `Retry-After: 1`
    bool challenge = false;         ///< adds `WWW-Authenticate: Bearer` (RFC 6750, 3)
    bool upgrade = false;           ///< adds what a client should upgrade to
};

/// How long an answer may be kept and used again.
enum class caching : std::uint8_t {
    no_store,    ///< never: it is about this moment
    revalidate,  ///< kept, and used after asking with its ETag
    immutable,   ///< for ever: its name changes with its content
};

class response {
  public:
    explicit response(output_chain& out) noexcept : out_(out) {}

    /// Bytes that must be contiguous for a head.
    static constexpr std::size_t head_size = 1024;

    /// Prepares for answering `request`. @param keep_alive false closes after the answer.
    void reset(const http_request& request, bool keep_alive) noexcept;

    /// Writes the head of an answer whose body follows. False, with nothing written: a shortage.
    /// @param content_type a media type. @param fields further header lines with their line ends.
    bool begin(http_status status, std::string_view content_type, std::string_view fields = {},
               caching keep = caching::no_store) noexcept;
    /// As `begin`, for a body of exactly `size` bytes: it is never chunked.
    bool begin_sized(http_status status, std::string_view content_type, std::size_t size,
                     std::string_view fields = {}, caching keep = caching::no_store) noexcept;
    /// Writes an answer that has no body: 101, 204 or 304.
    bool begin_empty(std::string_view fields, http_status status = http_status::no_content,
                     caching keep = caching::no_store) noexcept;

    /// Replaces whatever was written of this answer, which must not have paused, by a problem.
    bool put_problem(const problem& what) noexcept;

    bool begun() const noexcept { return ending_ != ending::none; }
    /// Some of the answer may have left already: it cannot be replaced any more.
    bool paused() const noexcept { return paused_; }

    /// What is written so far may be sent. Afterwards `resume` before more is written.
    void pause() noexcept;
    /// False: no room for the portion's frame yet.
    bool resume() noexcept;
    /// The body is complete. False: no room for its end yet; call again.
    bool finish() noexcept;
    /// The body cannot be completed; the peer learns it by the connection's end.
    void break_off() noexcept { keep_alive_ = false; }

    http_status status() const noexcept { return status_; }
    /// Of the problem this answer is; empty: it is none. Static storage.
    std::string_view problem_code() const noexcept { return problem_code_; }
    std::string_view problem_detail() const noexcept { return problem_detail_; }
    bool keep_alive() const noexcept { return keep_alive_; }
    bool head_only() const noexcept { return head_only_; }

  private:
    // How the peer knows where the body ends.
    enum class ending : std::uint8_t { none, undecided, length, chunks, connection_close };

    void put_head(http_status status, std::string_view content_type, std::string_view fields,
                  caching keep) noexcept;
    void patch_length(std::size_t size) noexcept;
    void patch_length_field(std::string_view text) noexcept;
    void end_chunk() noexcept;
    void begin_streaming() noexcept;

    output_chain& out_;
    output_chain::mark start_;
    output_chain::mark length_field_;
    output_chain::mark connection_field_;
    output_chain::mark body_;
    output_chain::mark chunk_;  // of the open chunk's header
    http_status status_ = http_status::ok;
    std::string_view problem_code_;
    std::string_view problem_detail_;
    ending ending_ = ending::none;
    bool is_http_1_1_ = true;
    bool keep_alive_ = true;
    bool head_only_ = false;
    bool paused_ = false;
    bool chunk_open_ = false;
};

}  // namespace tagferry::web
