// Sessions (Part 4 §5.6): they belong to the server and only visit a channel.
#pragma once

#include "protocols/opcua/encoding/views.hpp"
#include "protocols/opcua/limits.hpp"
#include "transport/memory/shown_number.hpp"
#include "transport/time/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tagferry::opcua {

inline constexpr std::size_t authentication_token_size = 32;
inline constexpr std::size_t nonce_size = 32;

struct session {
    bool in_use = false;
    bool activated = false;
    std::uint32_t index = 0;       ///< place in the table
    std::uint32_t number = 0;      ///< identifier of its SessionId (namespace 1); never reused
    std::uint32_t channel_id = 0;  ///< the channel it was created or last activated on
    std::array<std::byte, authentication_token_size> token{};
    std::array<std::byte, nonce_size> server_nonce{};
    std::string name{};
    std::string client_uri{};
    std::string user{};                     ///< empty: anonymous
    std::uint16_t roles = 0;                ///< bits of `role`
    std::vector<std::string> locale_ids{};  ///< as the client prefers them (E34)
    std::uint32_t max_response_size = 0;    ///< of CreateSession, 0: none
    transport::duration timeout{};
    transport::time_point expires{};  ///< moved on by every request
    std::uint32_t pending_operations = 0;
    std::uint32_t continuation_points = 0;
    std::uint32_t first_registered = 0;  ///< of its registered nodes; 0: none
};

/// Allocates at construction; creating a session allocates only for its texts (`control`).
class session_table {
  public:
    explicit session_table(const limits& bounds);

    /// A new session, not yet activated, which must be activated within the limit.
    /// @param requested_timeout_ms revised into the limits; not a number and less than the
    ///   minimum give the minimum (E11).
    /// @return null when as many exist as allowed.
    session* create(double requested_timeout_ms, transport::time_point now);

    /// The session of an authentication token, activated or not; null: BadSessionIdInvalid.
    session* find(const node_id_view& token) noexcept;

    /// Notes that the session is used: its timeout starts again.
    static void touch(session& which, transport::time_point now) noexcept {
        which.expires = which.activated ? now + which.timeout : which.expires;
    }

    void remove(session& which) noexcept;

    /// A session whose time is up, or null.
    session* expired(transport::time_point now) noexcept;
    transport::time_point deadline() const noexcept;

    /// Any thread.
    std::size_t count() const noexcept { return count_.value(); }
    /// Whether any session is bound to this channel.
    bool any_on_channel(std::uint32_t channel_id) const noexcept;

  private:
    const limits& limits_;
    std::vector<session> sessions_;
    transport::shown_number count_;
    std::uint32_t next_number_;
};

}  // namespace tagferry::opcua
