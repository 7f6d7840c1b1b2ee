// The live table of `tagferry demo`: eight tags in the terminal, drawn again twice a second.
#pragma once

#include "gateway/cli/gateway_client.hpp"
#include "gateway/cli/terminal.hpp"

#include <condition_variable>
#include <cstddef>
#include <iosfwd>
#include <mutex>
#include <string>
#include <thread>

namespace tagferry::gateway::cli {

/// Asks the gateway over REST like everyone else, on a thread of its own until destroyed.
class demo_table {
  public:
    /// @param out a terminal that nobody else writes to while this lives.
    demo_table(const gateway_address& where, const output_style& style, std::ostream& out);
    ~demo_table();
    demo_table(const demo_table&) = delete;
    demo_table& operator=(const demo_table&) = delete;

  private:
    void run();
    std::string drawing();

    gateway_client client_;
    output_style style_;
    std::ostream& out_;
    std::size_t lines_ = 0;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool end_ = false;
    std::thread thread_;
};

}  // namespace tagferry::gateway::cli
