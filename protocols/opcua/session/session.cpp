#include "protocols/opcua/session/session.hpp"

#include "transport/memory/random.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

namespace tagferry::opcua {

namespace {

// Takes as long whatever the bytes are, so that nobody can guess a token piece by piece.
bool same_token(const void* left, const void* right) noexcept {
    std::array<std::uint64_t, authentication_token_size / sizeof(std::uint64_t)> a{};
    std::array<std::uint64_t, authentication_token_size / sizeof(std::uint64_t)> b{};
    static_assert(sizeof a == authentication_token_size);
    std::memcpy(a.data(), left, sizeof a);
    std::memcpy(b.data(), right, sizeof b);
    std::uint64_t difference = 0;
    for (std::size_t at = 0; at < a.size(); ++at) {
        difference |= a[at] ^ b[at];
    }
    return difference == 0;
}

}  // namespace

session_table::session_table(const limits& bounds)
    : limits_(bounds), sessions_(bounds.max_sessions) {
    // A client that outlived a restart must not find its old SessionId in use by another.
    std::uint32_t start = 0;
    transport::fill_random(std::as_writable_bytes(std::span{&start, 1}));
    next_number_ = (start >> 1U) | 0x4000'0000U;
    std::uint32_t index = 0;
    for (session& each : sessions_) {
        each.index = index++;
    }
}

session* session_table::create(double requested_timeout_ms, transport::time_point now) {
    const auto free = std::find_if(sessions_.begin(), sessions_.end(),
                                   [](const session& each) { return !each.in_use; });
    if (free == sessions_.end()) {
        return nullptr;
    }
    const double least = limits_.min_session_timeout_ms;
    const double most = limits_.max_session_timeout_ms;
    // Written so that NaN gives the least.
    const double revised =
        requested_timeout_ms > least ? std::min(requested_timeout_ms, most) : least;
    const std::uint32_t index = free->index;
    *free = session{};
    free->in_use = true;
    free->index = index;
    free->number = next_number_++;
    transport::fill_random(free->token);
    std::memcpy(free->token.data(), &index, sizeof index);
    free->timeout = std::chrono::milliseconds{static_cast<std::int64_t>(revised)};
    free->expires = now + std::chrono::milliseconds{limits_.activation_timeout_ms};
    count_.add(1);
    return &*free;
}

session* session_table::find(const node_id_view& token) noexcept {
    if (token.kind != node_id_kind::opaque || token.bytes.size() != authentication_token_size) {
        return nullptr;
    }
    std::uint32_t index = 0;
    std::memcpy(&index, token.bytes.data(), sizeof index);
    if (index >= sessions_.size() || !sessions_[index].in_use ||
        !same_token(sessions_[index].token.data(), token.bytes.data())) {
        return nullptr;
    }
    return &sessions_[index];
}

void session_table::remove(session& which) noexcept {
    if (which.in_use) {
        which.in_use = false;
        which.token.fill(std::byte{0});
        count_.subtract(1);
    }
}

session* session_table::expired(transport::time_point now) noexcept {
    for (session& each : sessions_) {
        if (each.in_use && each.expires <= now) {
            return &each;
        }
    }
    return nullptr;
}

transport::time_point session_table::deadline() const noexcept {
    auto first = transport::time_point::max();
    for (const session& each : sessions_) {
        if (each.in_use) {
            first = std::min(first, each.expires);
        }
    }
    return first;
}

bool session_table::any_on_channel(std::uint32_t channel_id) const noexcept {
    return std::any_of(sessions_.begin(), sessions_.end(), [&](const session& each) {
        return each.in_use && each.channel_id == channel_id;
    });
}

}  // namespace tagferry::opcua
