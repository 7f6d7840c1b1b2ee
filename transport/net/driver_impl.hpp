// The body of the driver, for the translation units that instantiate it: one for TCP, one for the
// scripted stream of the tests.
#pragma once

#include "transport/net/driver.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <exception>

namespace tagferry::transport {

template <class Stream>
void basic_driver<Stream>::open(time_point now) {
    phase_ = phase::open;
    traffic_.connections_open.add(1);
    traffic_.connections_total.add(1);
    shard_.add(static_cast<sweep_participant&>(*this));
    engine_.opened(*this, now);
    if (phase_ != phase::closed) {
        if (const auto error = stream_.open(*this)) {
            begin_close({close_reason::transport_error, error});
        }
    }
    shard_.at_turn_end(*this);
}

template <class Stream>
void basic_driver<Stream>::ready(readiness what) try {
    if (what.writable() && blocked_) [[unlikely]] {
        blocked_ = false;
        shard_.at_turn_end(*this);
    }
    if (phase_ == phase::open && may_read() && !wish_moved_ && what.readable()) [[likely]] {
        receive(shard_.now());
    } else if (what.readable()) {
        receive_otherwise(what);
    }
} catch (...) {
    engine_threw();
    throw;
}

/// RX11: an engine that throws has lost its thread, so its connection ends; the shard reports it.
template <class Stream>
void basic_driver<Stream>::engine_threw() noexcept {
    begin_close(
        {close_reason::transport_error, std::make_error_code(std::errc::state_not_recoverable)});
}

template <class Stream>
void basic_driver<Stream>::receive_otherwise(readiness what) {
    if (phase_ == phase::open && may_read() && wants_input()) {
        receive(shard_.now());
    } else if (phase_ == phase::draining) {
        drain();
    } else if (what.broken()) {
        fail(close_reason::transport_error, stream_.take_error());
    } else {
        // Reported though not wanted: stop the reports now. A pause that ends before anything
        // arrives costs no system call.
        stream_.set_interest({.readable = false, .writable = blocked_});
    }
}

template <class Stream>
bool basic_driver<Stream>::wants_input() noexcept {
    wish_moved_ = false;
    if (engine_.wants_input().wanted) {
        return true;
    }
    input_ = input_state::unwanted;
    return false;
}

template <class Stream>
void basic_driver<Stream>::receive(time_point now) {
    const std::span<std::byte> room = feed_.buffer().writable();
    if (room.empty()) [[unlikely]] {
        // The engine was shown a full staging buffer and took nothing from it.
        fail(close_reason::protocol_error, std::make_error_code(std::errc::message_size));
        return;
    }
    const io_result got = stream_.read_some(room);
    if (got.status != io_status::done) [[unlikely]] {
        receive_failed(got);
        return;
    }
    traffic_.reads.add(1);
    traffic_.received_bytes.add(got.bytes);
    feed_.buffer().filled(got.bytes);
    show(now);
}

template <class Stream>
void basic_driver<Stream>::receive_failed(io_result got) noexcept {
    if (got.status == io_status::end) {
        end_of_input();
    } else if (got.status == io_status::failed) {
        fail(close_reason::transport_error, {got.error, std::system_category()});
    }
}

template <class Stream>
void basic_driver<Stream>::show(time_point now) {
    shard_.at_turn_end(*this);
    input_ = feed_.show(engine_, now);
    if (input_ != input_state::hungry) [[unlikely]] {
        hold_back();
    } else if (!feed_.buffer().empty()) [[unlikely]] {
        await_rest_of_frame(now);
    } else {
        frame_deadline_ = time_point::max();
    }
}

template <class Stream>
void basic_driver<Stream>::hold_back() noexcept {
    frame_deadline_ = time_point::max();  // the peer is not to blame
    if (phase_ != phase::open) {
        return;
    }
    switch (input_) {
        case input_state::hungry:
        case input_state::unwanted:
            break;
        case input_state::again:
            shard_.at_next_turn(*this);
            break;
        case input_state::no_buffer:
            traffic_.large_frame_waits.add(1);
            options_.large_frames->wait(*this);
            break;
        case input_state::too_large:
            fail(close_reason::protocol_error, std::make_error_code(std::errc::message_size));
            break;
    }
}

// The peer has to finish what it began. The deadline is that of the frame's first byte.
template <class Stream>
void basic_driver<Stream>::await_rest_of_frame(time_point now) noexcept {
    if (options_.frame_timeout == duration::max()) {
        return;
    }
    if (feed_.consumed() != 0 || frame_deadline_ == time_point::max()) {
        frame_deadline_ = now + options_.frame_timeout;
    }
}

template <class Stream>
void basic_driver<Stream>::end_of_input() noexcept {
    end_seen_ = true;
    close_after_flush(feed_.buffer().empty() ? close_reason::peer_closed
                                             : close_reason::peer_closed_mid_frame);
}

template <class Stream>
void basic_driver<Stream>::drain() noexcept {
    std::array<std::byte, 4096> unwanted;
    const io_result got = stream_.read_some(unwanted);
    if (got.status == io_status::would_block) {
        return;
    }
    drained_ += got.bytes;
    if (got.status != io_status::done || drained_ >= options_.linger_bytes) {
        begin_close(info_);
    }
}

template <class Stream>
void basic_driver<Stream>::resume_input(time_point now) {
    if (phase_ == phase::open && !choked_ && engine_.wants_input().wanted) {
        show(now);
    }
}

template <class Stream>
void basic_driver<Stream>::end_turn(time_point now) try {
    if (input_ == input_state::unwanted) [[unlikely]] {
        resume_input(now);
    }
    flush(now);
    if (blocked_ || !stream_.interest().readable || stream_.interest().writable) [[unlikely]] {
        update_interest();
    }
} catch (...) {
    engine_threw();
    throw;
}

template <class Stream>
void basic_driver<Stream>::next_turn(time_point now) try {
    const bool held = input_ == input_state::again || input_ == input_state::no_buffer;
    if (phase_ == phase::open && held && !choked_ && (!wish_moved_ || wants_input())) {
        show(now);
    }
} catch (...) {
    engine_threw();
    throw;
}

template <class Stream>
void basic_driver<Stream>::slot_returned() noexcept {
    shard_.at_next_turn(*this);
}

/// @return true when the engine had something to send.
template <class Stream>
bool basic_driver<Stream>::pull(time_point now) {
    engine_.pull(batch_, now);
    const std::size_t count = batch_.message_sizes().size();
    if (count == 0 || phase_ > phase::flushing) {
        return false;
    }
    // 1, 2, up to 4, up to 8 …: the number of bits of one less.
    traffic_.batch_sizes[static_cast<std::size_t>(std::bit_width(count - 1))].add(1);
    if (count > 1) [[unlikely]] {
        traffic_.longest_batch.raise_to(count);
    }
    return true;
}

template <class Stream>
void basic_driver<Stream>::flush(time_point now) {
    if (phase_ > phase::flushing || blocked_ || all_sent_) [[unlikely]] {
        return;  // is over, or waits for the socket or for the reports
    }
    if (batch_.empty() && !pull(now)) {
        if (phase_ == phase::flushing) [[unlikely]] {
            finish_flush();
        }
        return;
    }
    shard_.after_turn(*this);
    write_batch(now);
}

template <class Stream>
void basic_driver<Stream>::write_batch(time_point now) noexcept {
    while (sent_ < batch_.bytes()) {
        if (!write_once(now)) [[unlikely]] {
            return;
        }
    }
    all_sent_ = true;
    if (was_blocked_) [[unlikely]] {
        write_deadline_ = time_point::max();
        weigh_pending();
    }
}

/// One write of the batch from where it stands.
/// @param offered set to the bytes it tried to send.
template <class Stream>
io_result basic_driver<Stream>::offer(std::size_t& offered) noexcept {
    traffic_.writes.add(1);
    const auto segments = batch_.segments();
    if (segments.size() == 1 && sent_ == 0 && segments[0].size() <= gather::max_bytes) [[likely]] {
        offered = segments[0].size();
        const iovec piece{const_cast<std::byte*>(segments[0].data()), offered};  // only read from
        return stream_.write_some({&piece, 1});
    }
    return offer_pieces(offered);
}

template <class Stream>
io_result basic_driver<Stream>::offer_pieces(std::size_t& offered) noexcept {
    const gather pieces(batch_, position_);
    if (pieces.pieces().size() > 1) {
        traffic_.gathered_writes.add(1);
    }
    offered = pieces.bytes();
    return stream_.write_some(pieces.pieces());
}

/// @return true when the socket took everything it was offered.
template <class Stream>
bool basic_driver<Stream>::write_once(time_point now) noexcept {
    std::size_t offered = 0;
    const io_result result = offer(offered);
    if (result.status != io_status::done || result.bytes != batch_.bytes() - sent_) [[unlikely]] {
        return sent_in_part(result, offered, now);
    }
    traffic_.sent_bytes.add(result.bytes);
    sent_ += result.bytes;
    return true;
}

template <class Stream>
bool basic_driver<Stream>::sent_in_part(io_result result, std::size_t offered,
                                        time_point now) noexcept {
    if (result.status == io_status::would_block) {
        block(now);
        return false;
    }
    if (result.status != io_status::done || result.bytes == 0 || result.bytes > offered) {
        // TX4: nothing taken is a closed peer; more than offered is an error below us.
        fail(close_reason::transport_error,
             {result.error != 0 ? result.error : EIO, std::system_category()});
        return false;
    }
    traffic_.sent_bytes.add(result.bytes);
    sent_ += result.bytes;
    position_ = gather::advance(batch_, position_, result.bytes);
    write_deadline_ = time_point::max();
    if (result.bytes < offered) {
        block(now);
        return false;
    }
    return true;  // a slice of a long message
}

template <class Stream>
void basic_driver<Stream>::block(time_point now) noexcept {
    blocked_ = true;
    was_blocked_ = true;
    traffic_.blocked_writes.add(1);
    if (write_deadline_ == time_point::max() && options_.write_timeout != duration::max()) {
        write_deadline_ = now + options_.write_timeout;
    }
    weigh_pending();
}

// TX9.
template <class Stream>
void basic_driver<Stream>::weigh_pending() noexcept {
    const std::size_t pending = pending_bytes();
    traffic_.most_pending_bytes.raise_to(pending);
    if (pending >= options_.high_water_bytes) {
        choked_ = true;
    } else if (choked_ && pending <= options_.low_water_bytes) {
        choked_ = false;
        if (input_ == input_state::again || (input_ == input_state::no_buffer && !waiting())) {
            shard_.at_next_turn(*this);
        }
    }
}

template <class Stream>
void basic_driver<Stream>::finish_flush() noexcept {
    if (end_seen_) {
        begin_close(info_);
        return;
    }
    stream_.shutdown_send();
    phase_ = phase::draining;
}

template <class Stream>
void basic_driver<Stream>::after_turn(time_point now) {
    if (phase_ == phase::finished) {
        return;
    }
    if (phase_ == phase::closed) [[unlikely]] {
        finish(now);
        return;
    }
    try {
        report_and_pull(now);
    } catch (...) {
        engine_threw();
        throw;
    }
}

template <class Stream>
void basic_driver<Stream>::report_and_pull(time_point now) {
    report_sent();
    if (reported_ == batch_.message_sizes().size()) {
        sent_ = reported_ = reported_end_ = 0;
        position_ = {};
        all_sent_ = false;
        batch_.clear(was_blocked_ ? drain_messages : send_batch::max_messages);
        was_blocked_ = false;
        // What `written` made room for, or what did not fit, goes in the same turn.
        if (pull(now) || input_ == input_state::unwanted || phase_ == phase::flushing) {
            shard_.at_turn_end(*this);
        }
    }
}

// TX5: one report for each message, in order, as soon as it has left whole.
template <class Stream>
void basic_driver<Stream>::report_sent() {
    const auto sizes = batch_.message_sizes();
    const std::size_t before = reported_;
    while (reported_ < sizes.size() && reported_end_ + sizes[reported_] <= sent_) {
        report_.bytes = sizes[reported_++];
        reported_end_ += report_.bytes;
        engine_.written(report_);
    }
    traffic_.messages.add(reported_ - before);
}

// TX6, TX7: the message that was split fails with what left of it, all later ones with nothing.
template <class Stream>
void basic_driver<Stream>::report_unsent() {
    const auto sizes = batch_.message_sizes();
    std::error_code error = info_.error;
    if (!error) {
        error = std::make_error_code(std::errc::connection_aborted);
    }
    while (reported_ < sizes.size()) {
        const std::size_t size = sizes[reported_++];
        const std::size_t left = sent_ > reported_end_ ? sent_ - reported_end_ : 0;
        reported_end_ += size;
        engine_.written({left, error});
    }
}

template <class Stream>
void basic_driver<Stream>::finish(time_point now) {
    std::exception_ptr thrown;
    const auto call = [&thrown](auto&& function) {
        try {
            function();
        } catch (...) {
            thrown = std::current_exception();
        }
    };
    while (reported_ < batch_.message_sizes().size()) {
        call([this] {
            report_sent();
            report_unsent();
        });
    }
    batch_.clear();
    sent_ = reported_ = 0;
    feed_.clear();
    traffic_.connections_open.subtract(1);
    traffic_.closed[static_cast<std::size_t>(info_.reason)].add(1);
    phase_ = phase::finished;
    const close_info info = info_;
    call([&] { engine_.closed(info, now); });
    owner_.driver_finished(info, now);  // this may be destroyed
    if (thrown) {
        std::rethrow_exception(thrown);
    }
}

template <class Stream>
void basic_driver<Stream>::shut(close_reason reason, time_point now) {
    if (phase_ == phase::unopened || phase_ == phase::finished) {
        return;
    }
    begin_close({reason, {}});
    finish(now);
}

template <class Stream>
void basic_driver<Stream>::output_ready() noexcept {
    wish_moved_ = true;
    shard_.at_turn_end(*this);
}

template <class Stream>
void basic_driver<Stream>::close_after_flush(close_reason reason) noexcept {
    if (phase_ != phase::open) {
        return;
    }
    phase_ = phase::flushing;
    info_ = {reason, {}};
    linger_deadline_ = shard_.now() + options_.linger_timeout;
    frame_deadline_ = time_point::max();
    shard_.at_turn_end(*this);
}

template <class Stream>
void basic_driver<Stream>::abort(close_reason reason) noexcept {
    if (options_.reset_on_abort && phase_ != phase::closed && phase_ != phase::finished) {
        stream_.reset_on_close();
    }
    begin_close({reason, {}});
}

/// Something ended the connection. Once the close has been decided its reason stands (RX11).
template <class Stream>
void basic_driver<Stream>::fail(close_reason reason, std::error_code error) noexcept {
    const bool decided = phase_ == phase::flushing || phase_ == phase::draining;
    begin_close({decided ? info_.reason : reason, error});
}

template <class Stream>
void basic_driver<Stream>::begin_close(close_info info) noexcept {
    if (phase_ == phase::unopened || phase_ == phase::closed || phase_ == phase::finished) {
        return;
    }
    phase_ = phase::closed;
    info_ = info;
    blocked_ = false;
    stream_.close();
    shard_.remove(static_cast<sweep_participant&>(*this));
    if (waiting()) {
        options_.large_frames->stop_waiting(*this);
    }
    // The large buffer, if there is one, may be in the engine's hands at this moment.
    shard_.after_turn(*this);
}

// Reports of input are turned on here and turned off only when one comes that is not wanted.
template <class Stream>
void basic_driver<Stream>::update_interest() noexcept {
    if (phase_ == phase::closed || phase_ == phase::finished) {
        return;
    }
    const bool reading = phase_ == phase::draining || (phase_ == phase::open && may_read());
    stream_.set_interest(
        {.readable = reading || stream_.interest().readable, .writable = blocked_});
}

template <class Stream>
time_point basic_driver<Stream>::deadline() const noexcept {
    const time_point own = std::min({frame_deadline_, write_deadline_, linger_deadline_});
    const bool engine_runs = phase_ == phase::open || phase_ == phase::flushing;
    return engine_runs ? std::min(own, engine_.deadline()) : own;
}

template <class Stream>
void basic_driver<Stream>::expire(time_point now) {
    if (std::min({frame_deadline_, write_deadline_, linger_deadline_}) <= now) {
        fail(close_reason::timed_out, std::make_error_code(std::errc::timed_out));
        return;
    }
    if ((phase_ == phase::open || phase_ == phase::flushing) && engine_.deadline() <= now) {
        wish_moved_ = true;
        shard_.at_turn_end(*this);
        try {
            engine_.expire(now);
        } catch (...) {
            engine_threw();
            throw;
        }
    }
}

}  // namespace tagferry::transport
