#include "protocols/opcua/subscription/retransmission.hpp"

namespace tagferry::opcua {

bool retransmission_store::keep(retransmission_list& list, std::uint32_t sequence, writer& message,
                                std::uint32_t most) noexcept {
    if (!message.whole_) {
        return false;
    }
    while (list.count >= most && drop_oldest(list)) {
    }
    const std::uint32_t made = messages_.take();
    if (made == 0) {
        return false;
    }
    messages_[made] = {sequence, static_cast<std::uint32_t>(message.size_), message.bytes_.finish(),
                       0, 0};
    if (list.last != 0) {
        messages_[list.last].next = made;
    } else {
        list.first = made;
    }
    list.last = made;
    ++list.count;
    return true;
}

std::uint32_t retransmission_store::find(const retransmission_list& list, std::uint32_t sequence,
                                         std::uint32_t& before) noexcept {
    before = 0;
    std::uint32_t at = list.first;
    while (at != 0 && messages_[at].sequence != sequence) {
        before = at;
        at = messages_[at].next;
    }
    return at;
}

void retransmission_store::unlink(retransmission_list& list, std::uint32_t gone,
                                  std::uint32_t before) noexcept {
    const std::uint32_t after = messages_[gone].next;
    (before != 0 ? messages_[before].next : list.first) = after;
    list.last = list.last == gone ? before : list.last;
    --list.count;
    store_.release(messages_[gone].bytes);
    messages_.give_back(gone);
}

bool retransmission_store::drop_oldest(retransmission_list& list) noexcept {
    if (list.first == 0) {
        return false;
    }
    unlink(list, list.first, 0);
    return true;
}

bool retransmission_store::acknowledge(retransmission_list& list, std::uint32_t sequence) noexcept {
    std::uint32_t before = 0;
    const std::uint32_t found = find(list, sequence, before);
    if (found == 0) {
        return false;
    }
    unlink(list, found, before);
    return true;
}

bool retransmission_store::write(const retransmission_list& list, std::uint32_t sequence,
                                 encoder& out) noexcept {
    std::uint32_t before = 0;
    const std::uint32_t found = find(list, sequence, before);
    if (found == 0) {
        return false;
    }
    store_.visit(messages_[found].bytes, 0, messages_[found].size,
                 [&](bytes_view piece) { out.raw(piece); });
    return true;
}

void retransmission_store::clear(retransmission_list& list) noexcept {
    while (drop_oldest(list)) {
    }
}

}  // namespace tagferry::opcua
