#include "gateway/config/address_checker.hpp"
#include "protocols/s7/types/address.hpp"
#include "protocols/s7/types/data_type.hpp"

namespace tagferry::gateway::config {

namespace {

std::optional<text_fault> fault_of(const s7::parse_error& error) {
    if (!error) {
        return std::nullopt;
    }
    return text_fault{error.column - 1, std::string{error.text}, std::string{error.hint}};
}

class checker final : public address_checker {
  public:
    std::optional<text_fault> check_type(std::string_view type) const override {
        s7::data_type parsed;
        return fault_of(s7::parse_data_type(type, parsed));
    }

    std::optional<text_fault> check_address(std::string_view address,
                                            std::string_view type) const override {
        s7::address where;
        if (const auto error = s7::parse_address(address, where)) {
            return fault_of(error);
        }
        s7::data_type parsed;
        if (s7::parse_data_type(type, parsed)) {
            return std::nullopt;
        }
        return fault_of(s7::check_fit(where, parsed));
    }

    std::size_t value_bytes(std::string_view type) const override {
        s7::data_type parsed;
        return s7::parse_data_type(type, parsed) ? 0 : s7::slot_size(parsed);
    }
};

}  // namespace

const address_checker& s7_address_checker() {
    static const checker made;
    return made;
}

}  // namespace tagferry::gateway::config
