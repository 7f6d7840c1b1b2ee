// The OPC UA server's schedules and further turns, on its shard.
#pragma once

#include "protocols/opcua/backend/schedule.hpp"
#include "transport/threads/shard.hpp"

namespace tagferry::gateway {

class opcua_schedule final : public opcua::schedule_backend,
                             private transport::next_turn_participant {
  public:
    /// @param owner the shard of the server, whose turns these are.
    explicit opcua_schedule(transport::shard& owner) noexcept : shard_(owner) {}

    transport::timing_wheel& wheel() noexcept override { return shard_.wheel(); }
    void go_on_next_turn(opcua::continued_work& work) noexcept override {
        work_ = &work;
        shard_.at_next_turn(*this);
    }
    void forget() noexcept override { work_ = nullptr; }

  private:
    void next_turn(transport::time_point now) override {
        if (work_ != nullptr) {
            opcua::continued_work& work = *work_;
            work_ = nullptr;
            work.go_on(now);
        }
    }

    transport::shard& shard_;
    opcua::continued_work* work_ = nullptr;
};

}  // namespace tagferry::gateway
