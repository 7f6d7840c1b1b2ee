#include "transport/time/back_off.hpp"

namespace tagferry::transport {

namespace {

/// Steele, Lea and Flood's SplitMix64: one addition of state, three mixes.
std::uint64_t next_random(std::uint64_t& state) noexcept {
    state += 0x9E37'79B9'7F4A'7C15U;
    std::uint64_t value = state;
    value = (value ^ (value >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D0'49BB'1331'11EBU;
    return value ^ (value >> 31U);
}

/// In [0, 1).
double next_fraction(std::uint64_t& state) noexcept {
    return static_cast<double>(next_random(state) >> 11U) * 0x1.0p-53;
}

}  // namespace

back_off::back_off(const back_off_options& options, std::uint64_t seed) noexcept
    : options_(options), delay_(options.first), random_state_(seed) {}

duration back_off::next() noexcept {
    const double taken = options_.jitter * next_fraction(random_state_);
    const auto shorter =
        duration{static_cast<duration::rep>(static_cast<double>(delay_.count()) * taken)};
    const duration delay = delay_ - shorter;
    delay_ = delay_ > options_.ceiling / 2 ? options_.ceiling : delay_ * 2;
    ++failures_;
    return delay;
}

void back_off::reset() noexcept {
    delay_ = options_.first;
    failures_ = 0;
}

}  // namespace tagferry::transport
