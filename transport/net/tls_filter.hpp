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

namespace tagferry::transport {

class pinned_pool;

/// An OpenSSL context made once and shared by every connection of its kind. TLS 1.3 only.
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

/// The engine seen by the driver.
/// @param context must outlive the filter, @param inner the engine that sees plain bytes.
/// @param large_frames where the inner engine's frames over its staging buffer are put together;
///   null: the inner protocol has none.
/// @param server_name a client's SNI and the name the certificate must carry; empty: neither.
std::unique_ptr<engine> make_tls_filter(const tls_context& context, std::unique_ptr<engine> inner,
                                        pinned_pool* large_frames = nullptr,
                                        const std::string& server_name = {});

}  // namespace tagferry::transport
