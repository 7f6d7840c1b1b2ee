#include "web/http/assets.hpp"

#include "web/http/conditional.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace tagferry::web {
namespace {

constexpr std::string_view policy =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Vary: Accept-Encoding\r\n";

/// An entity tag: the content's FNV-1a digest and size in quotes. It tells builds apart, whose
/// files nobody forges.
std::string tag_of(std::span<const unsigned char> bytes) {
    std::uint64_t digest = 14'695'981'039'346'656'037ULL;
    for (const unsigned char byte : bytes) {
        digest = (digest ^ byte) * 1'099'511'628'211ULL;
    }
    std::array<char, 40> text{};
    const int size = std::snprintf(text.data(), text.size(), "\"%016llx-%zx\"",
                                   static_cast<unsigned long long>(digest), bytes.size());
    return {text.data(), static_cast<std::size_t>(size)};
}

std::string_view text_of(std::span<const unsigned char> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct asset_state {
    std::size_t sent = 0;
    bool compressed = false;
};

}  // namespace

asset_resource::asset_resource(const asset& file)
    : file_(file),
      plain_{text_of(file.bytes), tag_of(file.bytes), {}},
      gzip_{text_of(file.gzip), tag_of(file.gzip), {}} {
    plain_.fields = std::string(policy) + "ETag: " + plain_.tag + "\r\n";
    gzip_.fields = std::string(policy) + "ETag: " + gzip_.tag + "\r\nContent-Encoding: gzip\r\n";
}

const asset_resource::variant& asset_resource::chosen_for(const exchange& with) const noexcept {
    const bool compressed =
        !file_.gzip.empty() && accepts_gzip(with.request().field(request_field::accept_encoding));
    return compressed ? gzip_ : plain_;
}

progress asset_resource::begin(exchange& with) {
    const variant& chosen = chosen_for(with);
    const caching keep = file_.immutable ? caching::immutable : caching::revalidate;
    if (names_entity_tag(with.request().field(request_field::if_none_match), chosen.tag)) {
        with.answer.begin_empty(chosen.fields, http_status::not_modified, keep);
        return progress::finished;
    }
    if (!with.answer.begin_sized(http_status::ok, file_.content_type, chosen.bytes.size(),
                                 chosen.fields, keep)) {
        return with.refuse(outcome::busy);
    }
    with.make_state<asset_state>(asset_state{0, &chosen == &gzip_});
    return advance(with);
}

progress asset_resource::advance(exchange& with) {
    auto& state = with.state<asset_state>();
    const std::string_view bytes = state.compressed ? gzip_.bytes : plain_.bytes;
    return put_body(with, bytes, state.sent);
}

}  // namespace tagferry::web
