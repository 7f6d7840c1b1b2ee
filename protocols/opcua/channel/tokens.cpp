#include "protocols/opcua/channel/tokens.hpp"

#include <algorithm>

namespace tagferry::opcua {

std::uint32_t channel_tokens::issue(transport::duration lifetime,
                                    transport::time_point now) noexcept {
    if (next_.id != 0 && current_.end <= now) {
        current_ = next_;
    }
    const token made{++last_id_, now + lifetime + lifetime / 4};
    (current_.id == 0 ? current_ : next_) = made;
    return made.id;
}

bool channel_tokens::accept(std::uint32_t token_id, transport::time_point now) noexcept {
    if (token_id == 0) {
        return false;
    }
    if (token_id == next_.id && now < next_.end) {
        current_ = next_;
        next_ = {};
        return true;
    }
    return token_id == current_.id && now < current_.end;
}

std::uint32_t channel_tokens::sending(transport::time_point now) const noexcept {
    return next_.id != 0 && current_.end <= now ? next_.id : current_.id;
}

transport::time_point channel_tokens::end() const noexcept {
    return std::max(current_.end, next_.end);
}

}  // namespace tagferry::opcua
