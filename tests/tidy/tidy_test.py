#!/usr/bin/env python3
"""Each rule of the house law must find a breach made for it, and nothing in a clean tree."""

import tempfile
import unittest
from pathlib import Path

import tidy

CLEAN = {
    **{f"{folder}/README.md": "" for folder in tidy.TOP_FOLDERS},
    "transport/bytes/reader.hpp": "#pragma once\n",
    "protocols/s7/wire/tpkt.hpp":
        '#pragma once\n#include "transport/bytes/reader.hpp"\nvoid decode_tpkt(int);\n',
    "tests/fuzz/s7/fuzz_s7_wire.cpp": '#include "protocols/s7/wire/tpkt.hpp"\n',
    "gateway/tags/table.hpp": '#pragma once\n#include "transport/bytes/reader.hpp"\n',
}


def rules_broken(extra):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**CLEAN, **extra}.items():
            if text is None:
                continue
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return {line.split(": ")[1] for line in tidy.check(folder)}


class the_house_law(unittest.TestCase):
    def test_a_clean_tree_has_no_breach(self):
        self.assertEqual(rules_broken({}), set())

    def expect(self, rule, extra):
        self.assertIn(rule, rules_broken(extra))

    def test_arrow_against_the_direction(self):
        self.expect("arrow", {"transport/bytes/bad.hpp":
                              '#pragma once\n#include "gateway/tags/table.hpp"\n'})

    def test_arrow_between_protocols(self):
        self.expect("arrow", {"protocols/opcua/a.hpp":
                              '#pragma once\n#include "protocols/s7/wire/tpkt.hpp"\n'})

    def test_folder_in_no_room(self):
        self.expect("arrow", {"elsewhere/a.cpp": "\n"})

    def test_cycle_between_folders(self):
        self.expect("cycle", {
            "gateway/a/x.hpp": '#pragma once\n#include "gateway/b/y.hpp"\n',
            "gateway/b/y.hpp": '#pragma once\n#include "gateway/a/x.hpp"\n'})

    def test_include_not_from_the_root(self):
        self.expect("include-form", {"gateway/tags/a.cpp": '#include "table.hpp"\n'})

    def test_decoder_without_fuzz_target(self):
        self.expect("no-fuzz-target", {"tests/fuzz/s7/fuzz_s7_wire.cpp": "\n"})

    def test_engine_without_fuzz_target(self):
        self.expect("no-fuzz-target", {"protocols/s7/e.hpp":
                                       "#pragma once\nclass e : public transport::engine {};\n"})

    def test_long_function(self):
        body = "    int a = 0;\n" * 80
        self.expect("function-length", {"gateway/tags/a.cpp": "void f() {\n" + body + "}\n"})

    def test_long_file(self):
        self.expect("file-length", {"gateway/tags/a.cpp": "int a;\n" * 700})

    def test_long_line(self):
        self.expect("columns", {"gateway/tags/a.cpp": "int a;" + " " * 100 + "int b;\n"})

    def test_coroutine(self):
        self.expect("coroutine", {"gateway/tags/a.cpp": "co_await x;\n"})

    def test_unfinished(self):
        self.expect("unfinished", {"gateway/tags/a.cpp": "// TODO later\n"})

    def test_commented_out_code(self):
        self.expect("commented-out", {"gateway/tags/a.cpp": "// value = read(3);\n"})

    def test_asio_in_an_engine(self):
        self.expect("sans-io", {"protocols/s7/a.cpp": "#include <boost/asio/io_context.hpp>\n"})

    def test_allocating_type_in_a_hot_folder(self):
        self.expect("hot-folder", {"gateway/tags/a.cpp": "std::function<void()> f;\n"})

    def test_allocating_type_named_in_a_comment_is_fine(self):
        self.assertEqual(rules_broken({"gateway/tags/a.cpp": "// Not a std::function here.\n"}),
                         set())

    def test_header_without_pragma_once(self):
        self.expect("pragma-once", {"gateway/tags/a.hpp": "int a;\n"})

    def test_room_without_readme(self):
        self.expect("readme", {"web/README.md": None})


if __name__ == "__main__":
    unittest.main()
