#include "gateway/cli/run_command_line.hpp"
#include "transport/memory/heap.hpp"
#include "transport/memory/openssl_memory.hpp"

#include <iostream>

int main(int argument_count, char** arguments) {
    tagferry::transport::set_up_heap();
    // Before anything touches OpenSSL: its memory then comes from counted lists of ours.
    tagferry::transport::install_openssl_memory();
    return tagferry::gateway::cli::run_command_line(argument_count, arguments, std::cout,
                                                    std::cerr);
}
