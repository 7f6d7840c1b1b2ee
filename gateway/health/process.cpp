#include "gateway/health/families.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace tagferry::gateway {
namespace {

/// The fields of /proc/self/stat after the command's name (proc(5)): field 3 is the first.
bool read_stat(std::vector<std::string>& fields) {
    std::ifstream file("/proc/self/stat");
    std::string line;
    if (!std::getline(file, line)) {
        return false;
    }
    // The name is in parentheses and may hold blanks and parentheses itself.
    std::istringstream rest(line.substr(line.rfind(')') + 1));
    for (std::string field; rest >> field;) {
        fields.push_back(field);
    }
    constexpr std::size_t fields_used = 22;  // up to rss, field 24
    return fields.size() >= fields_used;
}

double number(const std::vector<std::string>& fields, std::size_t proc_field) {
    return std::stod(fields[proc_field - 3]);
}

double boot_time_s() {
    std::ifstream file("/proc/stat");
    for (std::string word; file >> word;) {
        if (word == "btime") {
            double seconds = 0;
            file >> seconds;
            return seconds;
        }
    }
    return 0;
}

}  // namespace

void append_process_metrics(std::vector<prometheus::MetricFamily>& to) {
    std::vector<std::string> fields;
    if (read_stat(fields)) {
        const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
        const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
        to.push_back(counter("process_cpu_seconds_total", "Processor time used.")
                         .add({}, (number(fields, 14) + number(fields, 15)) / ticks)
                         .take());
        to.push_back(gauge("process_threads", "Threads.").add({}, number(fields, 20)).take());
        to.push_back(gauge("process_virtual_memory_bytes", "Address space in use or reserved.")
                         .add({}, number(fields, 23))
                         .take());
        to.push_back(gauge("process_resident_memory_bytes", "Memory in use.")
                         .add({}, number(fields, 24) * page)
                         .take());
        to.push_back(gauge("process_start_time_seconds", "Start, in seconds since 1970.")
                         .add({}, boot_time_s() + number(fields, 22) / ticks)
                         .take());
    }
    std::error_code error;
    std::size_t open = 0;
    for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; at != end && !error;
         at.increment(error)) {
        ++open;
    }
    if (!error) {
        to.push_back(gauge("process_open_fds", "Open descriptors.").add({}, open).take());
    }
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        to.push_back(
            gauge("process_max_fds", "Descriptors allowed.").add({}, limit.rlim_cur).take());
    }
}

}  // namespace tagferry::gateway
