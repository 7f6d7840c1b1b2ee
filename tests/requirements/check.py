#!/usr/bin/env python3
"""The requirement pages against the sources: every test named exists, every number has its line,
and every test named after a requirement stands on a page.

Usage: check.py [ROOT]. Prints one line `path:line: text` per fault; exit 1 if there is any.
"""

import re
import sys
from pathlib import Path

PAGES = "tests/requirements"
# Which numbers a page must have.
NUMBERS = {
    "transport.md": [f"RX{n}" for n in range(1, 14)] + [f"TX{n}" for n in range(1, 16)],
    "opcua.md": [],
}
ROW = re.compile(r"\| ((?:RX|TX|E)\d+) \|.*\|(.*)\|$")
TEST = re.compile(r"^\s*TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
NAMED_AFTER = re.compile(r"\b(?:rx|tx|RX|TX|edge_E)\d+")


def tests_of(root):
    """All tests as `room.suite.name`, the way ctest lists them, with the file that has them."""
    found = {}
    for file in sorted((root / "tests/unit").rglob("*.cpp")):
        room = file.relative_to(root / "tests/unit").parts[0]
        for suite, name in TEST.findall(file.read_text()):
            found[f"{room}.{suite}.{name}"] = file.relative_to(root)
    return found


def check(root):
    root = Path(root)
    tests = tests_of(root)
    faults, named = [], set()
    for page, wanted in NUMBERS.items():
        path = f"{PAGES}/{page}"
        numbers = set()
        for at, line in enumerate((root / path).read_text().splitlines(), start=1):
            row = ROW.match(line)
            if not row:
                continue
            number, evidence = row.groups()
            if number in numbers:
                faults.append(f"{path}:{at}: {number} stands here twice")
            numbers.add(number)
            shown = re.findall(r"`([^`]+)`", evidence)
            if not shown:
                faults.append(f"{path}:{at}: nothing shows {number}")
            for what in shown:
                named.add(what)
                if what not in tests and not ("/" in what and (root / what).is_file()):
                    faults.append(f"{path}:{at}: {number} names {what}, which does not exist")
        faults += [f"{path}:1: {number} has no line" for number in wanted if number not in numbers]
    faults += [f"{file}:1: {test} is named after a requirement and stands on no page"
               for test, file in tests.items() if NAMED_AFTER.search(test) and test not in named]
    return faults


if __name__ == "__main__":
    problems = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)
