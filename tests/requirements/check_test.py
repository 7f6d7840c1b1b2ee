#!/usr/bin/env python3
"""Each fault of a requirement page must be found, and nothing on pages that are right."""

import tempfile
import unittest
from pathlib import Path

import check

ROWS = [f"| {number} | It holds. | `transport.kept.always` |"
        for number in check.NUMBERS["transport.md"]]
CLEAN = {
    "tests/requirements/transport.md": "\n".join(ROWS),
    "tests/requirements/opcua.md": "| E01 | So it is. | `opcua.edge_E01.so_it_is` |\n",
    "tests/unit/transport/net/kept_test.cpp": "TEST(kept, always) {\n",
    "tests/unit/opcua/edge_test.cpp": "TEST_F(edge_E01, so_it_is) {\n",
}


def faults(extra):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**CLEAN, **extra}.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return check.check(folder)


class requirement_pages(unittest.TestCase):
    def expect(self, text, extra):
        self.assertEqual([text in fault for fault in faults(extra)], [True])

    def test_right_pages_have_no_fault(self):
        self.assertEqual(faults({}), [])

    def test_a_number_without_a_line(self):
        self.expect("TX15 has no line",
                    {"tests/requirements/transport.md": "\n".join(ROWS[:-1])})

    def test_a_number_twice(self):
        self.expect("RX1 stands here twice",
                    {"tests/requirements/transport.md": "\n".join(ROWS + ROWS[:1])})

    def test_a_test_that_does_not_exist(self):
        broken = ROWS[:-1] + ["| TX15 | It holds. | `transport.kept.never` |"]
        self.expect("names transport.kept.never",
                    {"tests/requirements/transport.md": "\n".join(broken)})

    def test_a_test_of_another_room(self):
        broken = ROWS[:-1] + ["| TX15 | It holds. | `opcua.kept.always` |"]
        self.expect("names opcua.kept.always",
                    {"tests/requirements/transport.md": "\n".join(broken)})

    def test_a_line_that_nothing_shows(self):
        broken = ROWS[:-1] + ["| TX15 | It holds. | believe us |"]
        self.expect("nothing shows TX15",
                    {"tests/requirements/transport.md": "\n".join(broken)})

    def test_a_test_named_after_a_requirement_on_no_page(self):
        self.expect("opcua.edge_E99.alone is named after",
                    {"tests/unit/opcua/edge_test.cpp":
                     "TEST(edge_E01, so_it_is) {\nTEST(edge_E99, alone) {\n"})


if __name__ == "__main__":
    unittest.main()
