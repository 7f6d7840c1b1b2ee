#include "gateway/app/process.hpp"
#include "gateway/cli/run_command_line.hpp"
#include "transport/memory/heap.hpp"
#include "transport/memory/openssl_memory.hpp"

#include <iostream>

int main(int argument_count, char** arguments) {
    // What is told to end while it still starts ends as it should: the signal waits.
    if (argument_count > 1 && tagferry::gateway::cli::serves(arguments[1])) {
        tagferry::gateway::end_signals::block();
    }
    tagferry::transport::set_up_heap();
    // Before anything touches OpenSSL: its memory then comes from counted lists of ours.
    tagferry::transport::install_openssl_memory();
    return tagferry::gateway::cli::run_command_line(argument_count, arguments, std::cout,
                                                    std::cerr);
}
