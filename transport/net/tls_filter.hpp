// TLS 1.3 between a driver and an engine: an engine that wraps another one.
//
//   peer <-> driver <-> tls_filter <-> inner engine
//
// OpenSSL works on memory buffers of ours; the driver still makes every system call.
#pragma once

#include "transport/engine.hpp"

#include <memory>
#include <string>

struct ssl_ctx_st;
struct ssl_st;

namespace tagferry::transport {

class pinned_pool;

/// An OpenSSL context made once and shared by every connection of its kind. TLS 1.3 only, without
/// session tickets.
class tls_context {
  public:
    enum class role : std::uint8_t { server, client };

    /// @param certificate_pem, private_key_pem this side's; a client may leave both empty.
    /// @param trusted_pem certificates the peer's must chain to; empty: the peer is not checked.
    /// Throws std::runtime_error that names what OpenSSL disliked.
    tls_context(role side, const std::string& certificate_pem, const std::string& private_key_pem,
                const std::string& trusted_pem);
    ~tls_context();
    tls_context(const tls_context&) = delete;
    tls_context& operator=(const tls_context&) = delete;

    role side() const noexcept { return side_; }
    ssl_ctx_st* native() const noexcept { return native_; }

  private:
    role side_;
    ssl_ctx_st* native_ = nullptr;
};

enum class handshake_outcome : std::uint8_t {
    finished,
    wants_input,  ///< done with what was there
    failed,
    later,  ///< runs elsewhere; `resume(token, one of the others)` follows on the shard
};

/// Performs the steps of a handshake, private-key operation included: 0.3 to 3 ms of computing.
/// `inline_handshakes` does it on the shard's thread, which is what is used now. One that moves it
/// to the worker pool answers `later`; the filter then leaves the session alone, and receives
/// nothing, until it is resumed.
class handshake_performer {
  public:
    virtual handshake_outcome perform(ssl_st* session, completion_sink& done,
                                      completion_token token) = 0;

  protected:
    ~handshake_performer() = default;
};
handshake_performer& inline_handshakes() noexcept;

/// The engine seen by the driver. The inner engine is opened when the handshake has succeeded, and
/// hears nothing of one that fails. It is told `peer_closed` only after the peer's close_notify.
/// A handshake that takes over 10 s ends the connection.
/// @param context must outlive the filter, @param inner the engine that sees plain bytes.
/// @param large_frames where the inner engine's frames over its staging buffer are put together;
///   null: the inner protocol has none.
/// @param server_name a client's SNI and the name the certificate must carry; empty: neither.
std::unique_ptr<engine> make_tls_filter(const tls_context& context, std::unique_ptr<engine> inner,
                                        pinned_pool* large_frames = nullptr,
                                        const std::string& server_name = {},
                                        handshake_performer& performer = inline_handshakes());

}  // namespace tagferry::transport
