// Refused and failed requests of the web, as log lines.
#pragma once

#include "gateway/log/log.hpp"
#include "web/backend/request_log.hpp"

namespace tagferry::gateway {

class web_request_log final : public web::request_log {
  public:
    explicit web_request_log(log::logger& logger) noexcept : logger_(logger) {}

    void refused(const web::actor& who, const web::refused_request& what) noexcept override {
        write(log::event::web_request_refused, who, what);
    }
    void failed(const web::actor& who, const web::refused_request& what) noexcept override {
        write(log::event::web_request_failed, who, what);
    }

  private:
    /// The code comes first: repeats are held back by it, whoever sends them.
    void write(log::event event, const web::actor& who, const web::refused_request& what) noexcept {
        logger_.write(event, {{"code", what.code},
                              {"status", std::uint32_t{what.status}},
                              {"method", what.method},
                              {"path", what.path},
                              {"peer", who.peer},
                              {"user", who.user},
                              {"reason", what.reason}});
    }

    log::logger& logger_;
};

}  // namespace tagferry::gateway
