// Who asks, until when, and who is told: what every call into the backend carries.
#pragma once

#include "transport/engine.hpp"
#include "transport/time/clock.hpp"

#include <cstdint>
#include <string_view>

namespace tagferry::web {

/// Each role may do what the ones before it may.
enum class role : std::uint8_t {
    none,          ///< not signed in: health probes only
    viewer,        ///< reads
    operator_,     ///< also writes values
    administrator  ///< also changes the configuration
};

/// How well the bytes of a request were protected on their way.
enum class channel_security : std::uint8_t { loopback, plain, tls };

/// On whose behalf a call is made. Views are valid during the call only: an implementation that
/// defers copies what it needs for its audit record.
struct actor {
    std::uint64_t session = 0;  ///< 0: no session, a single request
    std::string_view user;      ///< name as shown in the audit log; empty for nobody
    std::string_view peer;      ///< address and port of the client
    web::role role = web::role::none;
    channel_security security = channel_security::plain;
};

/// The context of one call. `deadline` bounds what a deferred operation may take; a call that
/// answers at once ignores it, and `token` too.
struct call {
    const actor& who;
    transport::time_point now;
    transport::time_point deadline;
    transport::completion_sink* sink;  ///< null where the caller cannot wait
    transport::completion_token token;
};

/// How a call ended or stands. Backends answer with these only; what they mean in HTTP is the
/// business of web/api.
enum class outcome : std::uint8_t {
    done,       ///< answered; what was asked for is in the output argument
    deferred,   ///< `call::sink` is resumed exactly once with one of these as its `result`
    end,        ///< an iteration has nothing more
    later,      ///< an iteration stopped at its turn limit: call again in another turn
    not_found,  ///< no such path, or a stale handle
    forbidden,  ///< the actor may not
    invalid,    ///< the arguments make no sense to the backend
    busy,       ///< a bound is reached; trying again later may help
    timed_out,  ///< the deadline passed first
};

}  // namespace tagferry::web
