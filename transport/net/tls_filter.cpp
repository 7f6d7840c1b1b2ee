#include "transport/net/tls_filter.hpp"

#include "transport/net/input_feed.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace tagferry::transport {
namespace {

constexpr std::size_t max_plain_record = SSL3_RT_MAX_PLAIN_LENGTH;
/// A record with its header, content type and tag (RFC 8446 5.2).
constexpr std::size_t max_cipher_record = max_plain_record + 256 + 5;
constexpr std::size_t out_size = 2 * max_cipher_record;
constexpr duration handshake_timeout = std::chrono::seconds{10};

class inline_handshake final : public handshake_performer {
  public:
    handshake_outcome perform(ssl_st* session, completion_sink&, completion_token) override {
        ERR_clear_error();  // or what someone else left would be taken for ours
        const int result = SSL_do_handshake(session);
        if (result == 1) {
            return handshake_outcome::finished;
        }
        const int why = SSL_get_error(session, result);
        const bool waits = why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
        return waits ? handshake_outcome::wants_input : handshake_outcome::failed;
    }
};

class filter final : public engine, private engine_host, private pool_waiter {
  public:
    filter(const tls_context& context, std::unique_ptr<engine> inner, pinned_pool* large_frames,
           const std::string& server_name, handshake_performer& performer);
    ~filter();
    filter(const filter&) = delete;
    filter& operator=(const filter&) = delete;

    void opened(engine_host& host, time_point now) override;
    receive_result receive(std::span<std::byte> bytes, time_point now) override;
    input_wish wants_input() const noexcept override;
    void pull(send_batch& batch, time_point now) override;
    void written(const write_report& report) override;
    time_point deadline() const noexcept override;
    void expire(time_point now) override;
    void resume(completion_token token, std::uint32_t result, time_point now) override;
    void closed(const close_info& info, time_point now) override;

  private:
    enum class phase : std::uint8_t {
        idle,
        handshake,
        open,     ///< the inner engine speaks
        closing,  ///< sending what it has left, then close_notify
        ended,    ///< nothing more is encrypted
    };
    /// One message given to the driver: plain bytes that are out when it is.
    struct mark {
        std::size_t plain_end = 0;
    };

    // The inner engine's host.
    void output_ready() noexcept override { host_->output_ready(); }
    void close_after_flush(close_reason reason) noexcept override;
    void abort(close_reason reason) noexcept override { host_->abort(reason); }

    void slot_returned() noexcept override { host_->output_ready(); }

    void start_session();
    void pump(time_point now);
    void advance_handshake(time_point now);
    void handshake_ended(handshake_outcome outcome, time_point now);
    void read_plain(time_point now);
    bool show_plain(time_point now);
    void session_failed() noexcept;
    void encrypt(time_point now);
    bool encrypt_some();
    std::size_t collect_plain(std::span<std::byte> into) const;
    void report_inner();

    static int bio_write(BIO* bio, const char* from, int size);
    static int bio_read(BIO* bio, char* into, int size);
    static long bio_control(BIO* bio, int command, long, void*);
    static BIO_METHOD* bio_method();

    const tls_context& context_;
    std::unique_ptr<engine> inner_;
    pinned_pool* large_frames_;
    std::string server_name_;
    handshake_performer& performer_;
    engine_host* host_ = nullptr;
    SSL* session_ = nullptr;

    phase phase_ = phase::idle;
    bool inner_open_ = false;
    bool performing_ = false;  ///< the handshake's step runs elsewhere
    bool end_seen_ = false;    ///< the peer's close_notify
    bool out_was_full_ = false;
    time_point handshake_deadline_ = time_point::max();
    completion_token token_{};

    std::span<const std::byte> in_;  ///< what the driver shows, during its call
    input_state plain_state_ = input_state::hungry;
    input_feed plain_;

    // One batch of the inner engine at a time, as the driver has one of ours.
    send_batch inner_batch_;
    std::size_t plain_taken_ = 0;   ///< bytes of the batch encrypted
    std::size_t plain_out_ = 0;     ///< bytes of the batch in the kernel's hands
    std::size_t reported_ = 0;      ///< messages of the batch reported
    std::size_t reported_end_ = 0;  ///< bytes up to the last of them

    // Encrypted bytes: | with the driver | not pulled yet | free |
    std::size_t out_pulled_ = 0;
    std::size_t out_end_ = 0;
    std::size_t outstanding_ = 0;  ///< messages with the driver, at most one
    mark mark_{};
    std::array<std::byte, out_size> out_;
};

BIO_METHOD* filter::bio_method() {
    // Made once for the process.
    static BIO_METHOD* const method = [] {
        BIO_METHOD* const made =
            BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tagferry memory");
        BIO_meth_set_write(made, &filter::bio_write);
        BIO_meth_set_read(made, &filter::bio_read);
        BIO_meth_set_ctrl(made, &filter::bio_control);
        return made;
    }();
    return method;
}

int filter::bio_write(BIO* bio, const char* from, int size) {
    auto& self = *static_cast<filter*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const auto count = static_cast<std::size_t>(size);
    if (count > out_size - self.out_end_) {
        self.out_was_full_ = true;
        BIO_set_retry_write(bio);
        return -1;
    }
    std::memcpy(self.out_.data() + self.out_end_, from, count);
    self.out_end_ += count;
    return size;
}

int filter::bio_read(BIO* bio, char* into, int size) {
    auto& self = *static_cast<filter*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const std::size_t count = std::min(static_cast<std::size_t>(size), self.in_.size());
    if (count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    std::memcpy(into, self.in_.data(), count);
    self.in_ = self.in_.subspan(count);
    return static_cast<int>(count);
}

long filter::bio_control(BIO*, int command, long, void*) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

filter::filter(const tls_context& context, std::unique_ptr<engine> inner, pinned_pool* large_frames,
               const std::string& server_name, handshake_performer& performer)
    : context_(context),
      inner_(std::move(inner)),
      large_frames_(large_frames),
      server_name_(server_name),
      performer_(performer),
      plain_(large_frames) {}

filter::~filter() {
    SSL_free(session_);
}

void filter::start_session() {
    SSL_free(session_);
    session_ = SSL_new(context_.native());
    BIO* const bio = session_ == nullptr ? nullptr : BIO_new(bio_method());
    if (bio == nullptr) {
        throw std::bad_alloc();
    }
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(session_, bio, bio);
    if (context_.side() == tls_context::role::server) {
        SSL_set_accept_state(session_);
        return;
    }
    SSL_set_connect_state(session_);
    if (!server_name_.empty()) {
        // What the macro SSL_set_tlsext_host_name says; the name is copied.
        SSL_ctrl(session_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 server_name_.data());
        SSL_set1_host(session_, server_name_.c_str());
    }
}

void filter::opened(engine_host& host, time_point now) {
    host_ = &host;
    phase_ = phase::handshake;
    performing_ = end_seen_ = out_was_full_ = false;
    out_pulled_ = out_end_ = outstanding_ = 0;
    plain_state_ = input_state::hungry;
    handshake_deadline_ = now + handshake_timeout;
    ++token_.generation;
    start_session();
    pump(now);
}

receive_result filter::receive(std::span<std::byte> bytes, time_point now) {
    in_ = bytes;
    if (plain_state_ == input_state::again) {
        show_plain(now);
    }
    pump(now);
    const std::size_t consumed = bytes.size() - in_.size();
    in_ = {};
    return {consumed, plain_state_ == input_state::again};
}

input_wish filter::wants_input() const noexcept {
    const bool held = performing_ || out_was_full_ ||
                      (plain_state_ == input_state::unwanted && !inner_->wants_input().wanted) ||
                      (plain_state_ == input_state::no_buffer && waiting());
    return {!held, 0};
}

/// Everything that can go on now: the handshake, then what was received.
void filter::pump(time_point now) {
    if (phase_ == phase::handshake && !performing_) {
        advance_handshake(now);
    }
    if (phase_ == phase::open) {
        read_plain(now);
    }
}

void filter::advance_handshake(time_point now) {
    const handshake_outcome outcome = performer_.perform(session_, *this, token_);
    if (outcome == handshake_outcome::later) {
        performing_ = true;
        return;
    }
    handshake_ended(outcome, now);
}

void filter::handshake_ended(handshake_outcome outcome, time_point now) {
    if (outcome == handshake_outcome::failed) {
        session_failed();
    } else if (outcome == handshake_outcome::finished) {
        phase_ = phase::open;
        handshake_deadline_ = time_point::max();
        inner_open_ = true;
        inner_->opened(*this, now);
    }
}

void filter::resume(completion_token token, std::uint32_t result, time_point now) {
    if (token != token_ || !performing_ || phase_ != phase::handshake) {
        return;
    }
    performing_ = false;
    handshake_ended(static_cast<handshake_outcome>(result), now);
    host_->output_ready();
}

/// An alert may be waiting in `out_`; it goes out before the close.
void filter::session_failed() noexcept {
    ERR_clear_error();
    phase_ = phase::ended;
    host_->close_after_flush(close_reason::protocol_error);
}

/// @return true when the inner engine takes more.
bool filter::show_plain(time_point now) {
    if (!inner_->wants_input().wanted) {
        plain_state_ = input_state::unwanted;
        return false;
    }
    plain_state_ = plain_.show(*inner_, now);
    if (plain_state_ == input_state::no_buffer) {
        large_frames_->wait(*this);
    } else if (plain_state_ == input_state::too_large) {
        host_->close_after_flush(close_reason::protocol_error);
        phase_ = phase::closing;
    }
    return phase_ == phase::open && plain_state_ == input_state::hungry;
}

void filter::read_plain(time_point now) {
    const bool held = plain_state_ == input_state::unwanted ||
                      (plain_state_ == input_state::no_buffer && !waiting());
    if (held && !show_plain(now)) {
        return;
    }
    while (phase_ == phase::open && plain_state_ == input_state::hungry) {
        const std::span<std::byte> room = plain_.buffer().writable();
        if (room.empty()) {
            session_failed();
            return;
        }
        std::size_t got = 0;
        ERR_clear_error();  // or what someone else left would be taken for ours
        if (SSL_read_ex(session_, room.data(), room.size(), &got) == 1) {
            plain_.buffer().filled(got);
            show_plain(now);
            continue;
        }
        const int why = SSL_get_error(session_, 0);
        if (why == SSL_ERROR_ZERO_RETURN) {
            end_seen_ = true;
            close_after_flush(plain_.buffer().empty() ? close_reason::peer_closed
                                                      : close_reason::peer_closed_mid_frame);
        } else if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
            session_failed();
        }
        return;
    }
}

void filter::close_after_flush(close_reason reason) noexcept {
    if (phase_ == phase::open) {
        phase_ = phase::closing;
        host_->close_after_flush(reason);
    }
}

void filter::pull(send_batch& batch, time_point now) {
    pump(now);
    if (outstanding_ != 0) {
        return;
    }
    encrypt(now);
    if (out_end_ == out_pulled_) {
        return;
    }
    const std::span<const std::byte> all(out_);
    if (batch.add(all.subspan(out_pulled_, out_end_ - out_pulled_))) {
        out_pulled_ = out_end_;
        mark_.plain_end = plain_taken_;
        outstanding_ = 1;
    }
}

void filter::encrypt(time_point now) {
    if (phase_ != phase::open && phase_ != phase::closing) {
        return;
    }
    do {
        if (inner_batch_.empty()) {
            inner_->pull(inner_batch_, now);
        }
    } while (plain_taken_ < inner_batch_.bytes() && encrypt_some());
    if (phase_ == phase::closing && inner_batch_.empty()) {
        // All that the inner engine had is reported: the last record says that no more follows.
        SSL_shutdown(session_);
        ERR_clear_error();
        phase_ = phase::ended;
    }
}

/// One record. @return false when there is no room for another.
bool filter::encrypt_some() {
    if (out_size - out_end_ < max_cipher_record) {
        return false;
    }
    std::array<std::byte, max_plain_record> plain;
    const std::size_t size = collect_plain(plain);
    std::size_t taken = 0;
    if (SSL_write_ex(session_, plain.data(), size, &taken) != 1 || taken != size) {
        session_failed();
        return false;
    }
    plain_taken_ += size;
    return true;
}

/// Copies the next plain bytes of the batch side by side, so that many small messages share one
/// record and its tag.
std::size_t filter::collect_plain(std::span<std::byte> into) const {
    std::size_t skip = plain_taken_;
    std::size_t filled = 0;
    for (const auto& segment : inner_batch_.segments()) {
        if (skip >= segment.size()) {
            skip -= segment.size();
            continue;
        }
        const std::size_t count = std::min(segment.size() - skip, into.size() - filled);
        std::memcpy(into.data() + filled, segment.data() + skip, count);
        filled += count;
        skip = 0;
        if (filled == into.size()) {
            break;
        }
    }
    return filled;
}

void filter::written(const write_report& report) {
    outstanding_ = 0;
    if (report.error) {
        return;  // `closed` follows and fails what is left of the inner batch
    }
    // Everything pulled has left; what was added since moves to the front.
    std::memmove(out_.data(), out_.data() + out_pulled_, out_end_ - out_pulled_);
    out_end_ -= out_pulled_;
    out_pulled_ = 0;
    out_was_full_ = false;
    plain_out_ = mark_.plain_end;
    report_inner();
}

/// Reports the inner messages that have left whole; a batch that has is done with.
void filter::report_inner() {
    const auto sizes = inner_batch_.message_sizes();
    while (reported_ < sizes.size() && reported_end_ + sizes[reported_] <= plain_out_) {
        const std::size_t size = sizes[reported_++];
        reported_end_ += size;
        inner_->written({size, {}});
    }
    if (reported_ == sizes.size()) {
        inner_batch_.clear();
        plain_taken_ = plain_out_ = reported_ = reported_end_ = 0;
    }
}

time_point filter::deadline() const noexcept {
    return inner_open_ ? inner_->deadline() : handshake_deadline_;
}

void filter::expire(time_point now) {
    if (inner_open_) {
        inner_->expire(now);
    } else {
        host_->abort(close_reason::timed_out);
    }
}

void filter::closed(const close_info& info, time_point now) {
    if (waiting()) {
        large_frames_->stop_waiting(*this);
    }
    if (inner_open_) {
        close_info told = info;
        if (told.reason == close_reason::peer_closed && !end_seen_) {
            // Cut off without close_notify: whatever was received may not be all (RFC 8446 6.1).
            told.reason = close_reason::peer_closed_mid_frame;
        }
        const auto sizes = inner_batch_.message_sizes();
        const auto why =
            info.error ? info.error : std::make_error_code(std::errc::connection_aborted);
        while (reported_ < sizes.size()) {
            const std::size_t left = plain_out_ > reported_end_ ? plain_out_ - reported_end_ : 0;
            reported_end_ += sizes[reported_++];
            inner_->written({left, why});
        }
        inner_open_ = false;
        inner_->closed(told, now);
    }
    inner_batch_.clear();
    plain_taken_ = plain_out_ = reported_ = reported_end_ = 0;
    plain_.clear();
    phase_ = phase::idle;
    performing_ = false;
    ++token_.generation;
    host_ = nullptr;
}

}  // namespace

handshake_performer& inline_handshakes() noexcept {
    static inline_handshake instance;
    return instance;
}

std::unique_ptr<engine> make_tls_filter(const tls_context& context, std::unique_ptr<engine> inner,
                                        pinned_pool* large_frames, const std::string& server_name,
                                        handshake_performer& performer) {
    return std::make_unique<filter>(context, std::move(inner), large_frames, server_name,
                                    performer);
}

}  // namespace tagferry::transport
