#include "gateway/model/status.hpp"

namespace tagferry::gateway {

std::string_view name_of(status_code status) noexcept {
    switch (status) {
        case status_code::good:
            return "Good";
        case status_code::uncertain_no_communication_last_usable_value:
            return "UncertainNoCommunicationLastUsableValue";
        case status_code::uncertain_last_usable_value:
            return "UncertainLastUsableValue";
        case status_code::uncertain_substitute_value:
            return "UncertainSubstituteValue";
        case status_code::bad_unexpected_error:
            return "BadUnexpectedError";
        case status_code::bad_internal_error:
            return "BadInternalError";
        case status_code::bad_resource_unavailable:
            return "BadResourceUnavailable";
        case status_code::bad_communication_error:
            return "BadCommunicationError";
        case status_code::bad_timeout:
            return "BadTimeout";
        case status_code::bad_shutdown:
            return "BadShutdown";
        case status_code::bad_user_access_denied:
            return "BadUserAccessDenied";
        case status_code::bad_no_communication:
            return "BadNoCommunication";
        case status_code::bad_waiting_for_initial_data:
            return "BadWaitingForInitialData";
        case status_code::bad_node_id_unknown:
            return "BadNodeIdUnknown";
        case status_code::bad_not_readable:
            return "BadNotReadable";
        case status_code::bad_not_writable:
            return "BadNotWritable";
        case status_code::bad_out_of_range:
            return "BadOutOfRange";
        case status_code::bad_not_supported:
            return "BadNotSupported";
        case status_code::bad_not_found:
            return "BadNotFound";
        case status_code::bad_type_mismatch:
            return "BadTypeMismatch";
        case status_code::bad_configuration_error:
            return "BadConfigurationError";
        case status_code::bad_device_failure:
            return "BadDeviceFailure";
        case status_code::bad_out_of_service:
            return "BadOutOfService";
    }
    return "Unknown";
}

std::string_view name_of(quality value) noexcept {
    switch (value) {
        case quality::good:
            return "good";
        case quality::uncertain:
            return "uncertain";
        case quality::bad:
            return "bad";
    }
    return "bad";
}

}  // namespace tagferry::gateway
