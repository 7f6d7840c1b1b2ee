// The committed tables are what the generator makes of the published files, where those are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

namespace files = std::filesystem;

std::string contents(const files::path& path) {
    std::ifstream in{path, std::ios::binary};
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

// TAGFERRY_DATA names the folder; beside the repository is where developers keep it.
files::path inputs() {
    const char* const named = std::getenv("TAGFERRY_DATA");
    for (const files::path& candidate :
         {named == nullptr ? files::path{} : files::path{named} / "opcua",
          files::path{"../shared/data/opcua"}, files::path{"../../shared/data/opcua"}}) {
        if (!candidate.empty() && files::exists(candidate / "Opc.Ua.NodeSet2.xml")) {
            return candidate;
        }
    }
    return {};
}

TEST(generated_tables, a_second_run_of_the_generator_changes_nothing) {
    const files::path input = inputs();
    if (input.empty()) {
        GTEST_SKIP() << "the published files are not here (TAGFERRY_DATA): the committed tables "
                        "are used as they are";
    }
    const files::path out = files::temp_directory_path() / "tagferry_generated";
    files::remove_all(out);
    files::create_directories(out);
    const std::string command =
        "python3 protocols/opcua/spec/generate.py '" + input.string() + "' '" + out.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::size_t count = 0;
    for (const auto& entry : files::directory_iterator{"protocols/opcua/spec/generated"}) {
        EXPECT_EQ(contents(entry.path()), contents(out / entry.path().filename())) << entry.path();
        ++count;
    }
    EXPECT_EQ(count, 8U);
    files::remove_all(out);
}

}  // namespace
