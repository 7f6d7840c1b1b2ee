#include "gateway/simulation/demo_plant.hpp"

#include "protocols/s7/types/address.hpp"
#include "protocols/s7/types/data_type.hpp"

#include <chrono>
#include <span>
#include <stdexcept>
#include <string>

namespace tagferry::gateway {

namespace {

using s7::signal_kind;

struct demo_row {
    const char* path;
    const char* address;
    const char* type;
    const char* scan_class;
    signal_kind kind;
    double minimum;
    double maximum;
    std::uint32_t period_ms;
    const char* unit;
    const char* text;  ///< description of the tag
    bool writable = false;
    const char* content = "";  ///< of a text
};

constexpr demo_row press_rows[] = {
    {"tank/level", "DB1.DBD0", "REAL", "fast", signal_kind::sine, 220, 1850, 40'000, "mm",
     "Level of the oil tank"},
    {"tank/temperature", "DB1.DBD4", "REAL", "fast", signal_kind::sine, 38, 52, 90'000, "°C",
     "Oil temperature"},
    {"tank/inlet_open", "DB1.DBX8.0", "BOOL", "fast", signal_kind::toggle, 0, 1, 20'000, "",
     "Inlet valve is open"},
    {"tank/outlet_open", "DB1.DBX8.1", "BOOL", "fast", signal_kind::toggle, 1, 0, 20'000, "",
     "Outlet valve is open"},
    {"tank/low_level", "DB1.DBX8.2", "BOOL", "fast", signal_kind::toggle, 0, 1, 37'000, "",
     "Level switch, low"},
    {"tank/refills", "DB1.DBW10", "INT", "slow", signal_kind::counter, 0, 30'000, 40'000, "",
     "Refills since the last service"},
    {"pump/running", "DB1.DBX12.0", "BOOL", "fast", signal_kind::toggle, 1, 0, 15'000, "",
     "Main pump runs"},
    {"pump/fault", "DB1.DBX12.1", "BOOL", "fast", signal_kind::constant, 0, 0, 1'000, "",
     "Collective fault of the pump"},
    {"pump/enabled", "DB1.DBX12.2", "BOOL", "fast", signal_kind::constant, 1, 1, 1'000, "",
     "The main pump may run", true},
    {"pump/speed", "DB1.DBW14", "INT", "fast", signal_kind::ramp, 0, 2'950, 15'000, "1/min",
     "Speed of the main pump"},
    {"pump/current", "DB1.DBD16", "REAL", "fast", signal_kind::sine, 3.2, 11.8, 15'000, "A",
     "Motor current"},
    {"pump/hours", "DB1.DBD20", "UDINT", "slow", signal_kind::counter, 18'211, 99'999, 36'000, "h",
     "Operating hours"},
    {"ram/position", "DB1.DBD24", "REAL", "fast", signal_kind::sine, 0, 480, 6'000, "mm",
     "Position of the ram"},
    {"ram/force", "DB1.DBD28", "REAL", "fast", signal_kind::sine, 0, 1'250, 6'000, "kN",
     "Press force"},
    {"ram/strokes", "DB1.DBD32", "DINT", "fast", signal_kind::counter, 0, 2'000'000'000, 6'000, "",
     "Strokes in all"},
    {"ram/top_dead_centre", "DB1.DBX36.0", "BOOL", "fast", signal_kind::toggle, 0, 1, 3'000, "",
     "The ram is at its top"},
    {"counters/good", "DB2.DBD0", "UDINT", "slow", signal_kind::counter, 0, 4'000'000'000, 6'000,
     "", "Good parts"},
    {"counters/scrap", "DB2.DBW4", "UINT", "slow", signal_kind::counter, 0, 65'535, 95'000, "",
     "Scrap parts"},
    {"counters/cycle_time", "DB2.DBD6", "REAL", "slow", signal_kind::sine, 5.7, 6.4, 60'000, "s",
     "Last cycle"},
    {"counters/energy", "DB2.DBB10", "LREAL", "slow", signal_kind::ramp, 81'200, 81'300, 3'600'000,
     "kWh", "Energy drawn"},
    {"recipe/name", "DB2.DBB20", "STRING[20]", "slow", signal_kind::text, 0, 0, 30'000, "",
     "Recipe in use", true, "Gehäuse"},
    {"recipe/setpoint", "DB2.DBD44", "REAL", "slow", signal_kind::constant, 1'100, 1'100, 1'000,
     "kN", "Force asked for", true},
    {"recipe/profile", "DB2.DBB48", "ARRAY[0..9] OF INT", "slow", signal_kind::sine, 0, 100, 20'000,
     "%", "Force profile over the stroke", true},
    {"status/word", "DB2.DBW68", "WORD", "fast", signal_kind::counter, 0, 65'535, 1'000, "",
     "Status word of the drive"},
    {"status/heartbeat", "DB2.DBB70", "BYTE", "fast", signal_kind::counter, 0, 255, 500, "",
     "Life sign of the PLC"},
};

constexpr demo_row boiler_rows[] = {
    {"steam/pressure", "DB10.DBD0", "REAL", "fast", signal_kind::sine, 7.6, 8.4, 45'000, "bar",
     "Steam pressure"},
    {"steam/setpoint", "DB10.DBD60", "REAL", "slow", signal_kind::constant, 8, 8, 1'000, "bar",
     "Pressure asked for", true},
    {"steam/temperature", "DB10.DBD4", "REAL", "fast", signal_kind::sine, 168, 173, 45'000, "°C",
     "Steam temperature"},
    {"steam/flow", "DB10.DBD8", "REAL", "fast", signal_kind::sine, 410, 980, 70'000, "kg/h",
     "Steam flow"},
    {"steam/total", "DB10.DBD12", "DINT", "slow", signal_kind::counter, 120'400, 2'000'000'000,
     4'000, "kg", "Steam in all"},
    {"burner/on", "DB10.DBX16.0", "BOOL", "fast", signal_kind::toggle, 1, 0, 25'000, "",
     "The burner is on"},
    {"burner/flame", "DB10.DBX16.1", "BOOL", "fast", signal_kind::toggle, 1, 0, 25'000, "",
     "Flame is seen"},
    {"burner/lockout", "DB10.DBX16.2", "BOOL", "fast", signal_kind::constant, 0, 0, 1'000, "",
     "Burner locked out"},
    {"burner/modulation", "DB10.DBW18", "INT", "fast", signal_kind::ramp, 20, 100, 25'000, "%",
     "Burner output"},
    {"burner/starts", "DB10.DBW20", "INT", "slow", signal_kind::counter, 4'120, 32'000, 50'000, "",
     "Burner starts"},
    {"feed_water/level", "DB10.DBD22", "REAL", "fast", signal_kind::sine, 52, 61, 30'000, "%",
     "Drum level"},
    {"feed_water/valve", "DB10.DBW26", "INT", "fast", signal_kind::sine, 12, 78, 30'000, "%",
     "Feed valve position"},
    {"feed_water/pump_1", "DB10.DBX28.0", "BOOL", "fast", signal_kind::toggle, 1, 0, 60'000, "",
     "Feed pump 1 runs"},
    {"feed_water/pump_2", "DB10.DBX28.1", "BOOL", "fast", signal_kind::toggle, 0, 1, 60'000, "",
     "Feed pump 2 runs"},
    {"feed_water/conductivity", "DB10.DBD30", "REAL", "slow", signal_kind::sine, 88, 131, 120'000,
     "µS/cm", "Conductivity"},
    {"flue_gas/temperature", "DB10.DBD34", "REAL", "slow", signal_kind::sine, 121, 149, 80'000,
     "°C", "Flue gas temperature"},
    {"flue_gas/oxygen", "DB10.DBD38", "REAL", "slow", signal_kind::sine, 2.8, 4.9, 80'000, "%",
     "Oxygen in the flue gas"},
    {"alarms/count", "MW10", "INT", "slow", signal_kind::counter, 0, 9, 33'000, "",
     "Alarms waiting"},
    {"alarms/horn", "M12.0", "BOOL", "fast", signal_kind::toggle, 0, 1, 33'000, "",
     "The horn sounds"},
    {"alarms/last", "DB10.DBB42", "STRING[16]", "slow", signal_kind::text, 0, 0, 33'000, "",
     "Last alarm", false, "Störung"},
    {"status/heartbeat", "MB20", "BYTE", "fast", signal_kind::counter, 0, 255, 500, "",
     "Life sign of the PLC"},
};

struct demo_plc_row {
    const char* name;
    const char* profile;
    config::plc_family family;
    std::uint8_t slot;
    std::uint16_t pdu_size;
    std::span<const demo_row> rows;
};

constexpr demo_plc_row plcs[demo_plc_count] = {
    {"press", "s7-1500", config::plc_family::s7_1500, 1, 960, press_rows},
    {"boiler", "s7-300", config::plc_family::s7_300, 2, 240, boiler_rows},
};

constexpr std::uint32_t block_size = 256;

demo_point point_of(const demo_row& row) {
    demo_point point{row.path, {}, {}};
    // The table above is ours: a text that does not parse is a fault of this file.
    if (s7::parse_address(row.address, point.where) || s7::parse_data_type(row.type, point.type)) {
        throw std::logic_error(std::string("demo plant: ") + row.path);
    }
    return point;
}

s7::signal_config signal_of(const demo_row& row) {
    const demo_point point = point_of(row);
    s7::signal_config signal;
    signal.where = point.where;
    signal.type = point.type;
    signal.kind = row.kind;
    signal.minimum = row.minimum;
    signal.maximum = row.maximum;
    signal.period = std::chrono::milliseconds(row.period_ms);
    if (row.kind == signal_kind::text) {
        signal.text = row.content;
    }
    return signal;
}

config::tag tag_of(const demo_row& row) {
    config::tag tag;
    tag.path = row.path;
    tag.address = row.address;
    tag.type = row.type;
    tag.scan_class_name = row.scan_class;
    tag.unit = row.unit;
    tag.description = row.text;
    tag.writable = row.writable;
    return tag;
}

}  // namespace

const char* demo_plc_name(std::size_t plc) noexcept {
    return plcs[plc].name;
}

s7::simulator_config still_demo_plc(std::size_t plc) {
    s7::simulator_config simulated;
    simulated.profile = plcs[plc].profile;
    for (const demo_point& point : demo_points(plc)) {
        bool known = point.where.where != s7::area::data_block;
        for (const auto& block : simulated.data_blocks) {
            known = known || block.number == point.where.block;
        }
        if (!known) {
            simulated.data_blocks.push_back({point.where.block, block_size});
        }
    }
    return simulated;
}

s7::simulator_config demo_plc(std::size_t plc) {
    s7::simulator_config simulated = still_demo_plc(plc);
    for (const demo_row& row : plcs[plc].rows) {
        simulated.signals.push_back(signal_of(row));
    }
    return simulated;
}

std::vector<demo_point> demo_points(std::size_t plc) {
    std::vector<demo_point> points;
    for (const demo_row& row : plcs[plc].rows) {
        points.push_back(point_of(row));
    }
    return points;
}

config::connection demo_connection(std::size_t plc, std::uint16_t port) {
    const demo_plc_row& row = plcs[plc];
    config::connection connection;
    connection.name = row.name;
    connection.host = "127.0.0.1";
    connection.port = port;
    connection.family = row.family;
    connection.slot = row.slot;
    connection.pdu_size = row.pdu_size;
    connection.scan_classes.resize(2);
    connection.scan_classes[0].name = "fast";
    connection.scan_classes[0].interval_ms = 100;
    connection.scan_classes[1].name = "slow";
    connection.scan_classes[1].interval_ms = 1'000;
    for (const demo_row& tag : row.rows) {
        connection.tags.push_back(tag_of(tag));
    }
    return connection;
}

}  // namespace tagferry::gateway
