// The HTTP engine over the fake backend: the input is what a peer sends. However it is cut into
// pieces, the answers must be the same, and every byte of them must be an HTTP answer.

#include "tests/unit/web/fake_backend.hpp"
#include "tests/unit/web/scripted_connection.hpp"
#include "web/http/connection_engine.hpp"
#include "web/server.hpp"

#include <cstdlib>
#include <optional>

namespace tagferry::web::testing {
namespace {

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

class world {
  public:
    world() {
        add_usual_tags(above_.values);
        for (int i = 0; i < 300; ++i) {
            above_.values.tags.push_back({.path = "mill/" + std::to_string(i),
                                          .type = value_type::float64,
                                          .bytes = bytes_of(0.1 * i)});
        }
        above_.values.steps_before_later = 100;
        above_.metrics.series = 2000;
        server_options options;
        options.limits.output_slots = 16;
        options.limits.connection_output_slots = 8;
        options.limits.output_slot_size = 4096;
        parts_.emplace(above_.parts());
        server_.emplace(options, *parts_, above_.clock);
    }

    /// What comes back for `input` sent in pieces whose sizes `cuts` says, over and over.
    std::string answers(std::string_view input, std::string_view cuts) {
        scripted_connection connection(server_->make_engine("peer", channel_security::loopback),
                                       now());
        std::size_t at = 0;
        for (std::size_t step = 0; at < input.size(); ++step) {
            const std::size_t size =
                cuts.empty() ? input.size()
                             : 1 + static_cast<unsigned char>(cuts[step % cuts.size()]) % 64;
            const auto piece = input.substr(at, size);
            at += piece.size();
            connection.send(piece, now());
            complete(connection);
        }
        above_.clock.advance(std::chrono::minutes(2));
        connection.tick(now());
        complete(connection);
        return connection.take();
    }

  private:
    transport::time_point now() const { return above_.clock.now(); }

    void complete(scripted_connection& connection) {
        for (bool moved = true; moved && !connection.ended();) {
            moved = above_.execution.run_one(now());
            while (!above_.values.refreshes.empty()) {
                const auto refresh = above_.values.refreshes.back();
                above_.values.refreshes.pop_back();
                refresh.sink->resume(refresh.token, 0, now());
                moved = true;
            }
            connection.turn(now());
        }
        while (above_.execution.run_one(now())) {
        }
    }

    fake_backend above_;
    std::optional<backend> parts_;
    std::optional<server> server_;
};

// The metrics change with every request, so their bodies are left out of the comparison.
bool comparable(std::string_view input) {
    constexpr std::size_t chunk_line_limit = 1024;
    return input.size() < chunk_line_limit && input.find("metrics") == std::string_view::npos;
}

}  // namespace
}  // namespace tagferry::web::testing

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace tagferry::web::testing;
    static world tested;
    if (size < 4) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string_view cuts = text.substr(0, 3);
    const std::string_view input = text.substr(3);
    const std::string cut = tested.answers(input, cuts);
    require(cut.empty() || cut.starts_with("HTTP/1.1 "));
    if (comparable(input)) {
        require(cut == tested.answers(input, {}));
    }
    return 0;
}
