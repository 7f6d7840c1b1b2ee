#!/usr/bin/env python3
"""The house law, read from the sources: arrows between rooms, cycles, fuzz targets, form.

Usage: tidy.py [ROOT]. Prints one line `path:line: rule: text` per breach; exit 1 if there is any.
Generated files (in a folder `spec/generated`) are exempt from the rules of form, tests from the
rules about hot folders; TypeScript is checked by its own tools.
"""

import re
import subprocess
import sys
from pathlib import Path

# Which folders a folder may include, besides itself. The longest matching prefix counts.
ARROWS = {
    "transport/bytes": ["transport/memory"],
    "transport/memory": [],
    "transport/time": ["transport/memory"],
    "transport/threads": ["transport/time", "transport/memory", "transport"],
    "transport/net": ["transport"],
    "transport": ["transport"],
    "protocols/s7": ["transport"],
    "protocols/opcua": ["transport"],
    "web": ["transport"],
    "gateway": ["transport", "protocols", "web"],
    "tests": ["transport", "protocols", "web", "gateway", "tests"],
}

# Engines make no system calls and know no sockets: nothing here may include Asio.
SANS_IO = ["protocols", "web", "transport/bytes", "transport/engine.hpp", "transport/engine.cpp"]

# Where an operation in steady state passes: no type that allocates behind the reader's back.
HOT_FOLDERS = [
    "transport/bytes", "transport/net", "protocols/s7/wire", "protocols/s7/session",
    "protocols/opcua/encoding", "protocols/opcua/channel", "protocols/opcua/services",
    "protocols/opcua/subscription",
    "web/http", "gateway/tags",
]
HOT_BANNED = re.compile(r"std::(function|make_shared|shared_ptr|any|list|map|deque)\b")

BANNED = [
    (re.compile(r"\bco_(await|yield|return)\b|<coroutine>"), "coroutine",
     "g++ 12.2 miscompiles coroutines; write an engine"),
    (re.compile(r"\bexperimental::"), "experimental", "no experimental Asio in the product"),
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "unfinished", "finish it or leave it out"),
    (re.compile(r"\bboost::asio::(io_context|strand|awaitable|co_spawn|ip)\b"), "asio",
     "the shard's poller does all input and output (transport/README.md)"),
    (re.compile(r"#include\s+[<\"]boost/beast\.hpp"), "wide-include",
     "include the Beast headers you use"),
    (re.compile(r"\bsleep_for\b|\bsleep_until\b|\busleep\("), "sleep",
     "wait for an event or a timer, not for time to pass"),
    (re.compile(r"/(home|root|Users)/"), "machine-path", "no path of one machine"),
]

MAX_COLUMNS = 100
MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 600
TOP_FOLDERS = ["gateway", "protocols", "transport", "web", "deploy", "tests"]
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


class breaches(list):
    def say(self, path, line, rule, text):
        self.append(f"{path}:{line}: {rule}: {text}")


def tracked_files(root):
    """Files git tracks or would track; every file below root when it is no checkout."""
    result = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return sorted(p for p in set(result.stdout.split("\n")) if p and (root / p).is_file())
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())


def is_cpp(path):
    return path.endswith((".cpp", ".hpp"))


def is_product(path):
    return is_cpp(path) and path.split("/")[0] in ("transport", "protocols", "web", "gateway")


def is_generated(path):
    return "/generated/" in path


def below(path, folder):
    return path == folder or path.startswith(folder + "/")


def includes_of(text):
    for number, line in enumerate(text.split("\n"), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def strip_comments_and_strings(text):
    """Same number of lines; comments and literals blanked, so that braces and words can be read."""
    pattern = re.compile(
        r'R"([^(\s]*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
        re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def check_arrows(files, texts, out):
    for path in files:
        if not is_cpp(path):
            continue
        own = max((f for f in ARROWS if below(path, f)), key=len, default=None)
        if own is None:
            out.say(path, 1, "arrow", "this folder is in no room; add it to the allow-list")
            continue
        for number, kind, target in includes_of(texts[path]):
            if kind == "<":
                top = target.split("/")[0]
                if top in TOP_FOLDERS:
                    out.say(path, number, "include-form", f'write "{target}" in quotes')
                continue
            if target not in texts:
                out.say(path, number, "include-form",
                        f'"{target}" is no file counted from the root of the repository')
                continue
            if below(target, own):
                continue
            if not any(below(target, allowed) for allowed in ARROWS[own]):
                out.say(path, number, "arrow", f"{own} may not include {target}")


def folder_of(path):
    return str(Path(path).parent)


def check_cycles(files, texts, out):
    """No cycle between folders of the product."""
    edges = {}
    for path in filter(is_product, files):
        for number, kind, target in includes_of(texts[path]):
            if kind == '"' and target in texts and folder_of(target) != folder_of(path):
                edges.setdefault(folder_of(path), {}).setdefault(
                    folder_of(target), (path, number))
    state = {}

    def visit(folder, trail):
        state[folder] = "open"
        for target, (path, number) in sorted(edges.get(folder, {}).items()):
            if state.get(target) == "open":
                cycle = trail[trail.index(target):] + [target]
                out.say(path, number, "cycle", " -> ".join(cycle))
            elif target not in state:
                visit(target, trail + [target])
        state[folder] = "done"

    for folder in sorted(edges):
        if folder not in state:
            visit(folder, [folder])


def reachable(start, texts):
    seen, open_ = set(), [start]
    while open_:
        path = open_.pop()
        if path in seen:
            continue
        seen.add(path)
        open_ += [t for _, kind, t in includes_of(texts[path]) if kind == '"' and t in texts]
    return seen


DECODER = re.compile(r"\b(decode|parse)(_[a-z0-9_]+)?\s*\(")
ENGINE = re.compile(r":\s*public\s+(?:::)?(?:tagferry::)?(?:transport::)?engine\b")


def check_fuzz_targets(files, texts, out):
    """Every header that declares a decoder or an engine is reached by a fuzz target."""
    fuzzed = set()
    for path in files:
        if re.match(r"tests/fuzz/.*/fuzz_[^/]*\.cpp$", path):
            fuzzed |= reachable(path, texts)
    for path in filter(is_product, files):
        if not path.endswith(".hpp") or is_generated(path):
            continue
        code = strip_comments_and_strings(texts[path])
        what = "engine" if ENGINE.search(code) else "decoder" if DECODER.search(code) else None
        if what and path not in fuzzed:
            out.say(path, 1, "no-fuzz-target", f"declares a {what} that no fuzz target includes")


def check_functions(path, code, out):
    """Length of functions: a brace opened by a line that ends a parameter list or a qualifier."""
    depth_stack, depth = [], 0
    lines = code.split("\n")
    head = re.compile(r"\)\s*(const|noexcept|override|final|mutable|->\s*[\w:<>,&*\s]+|\s)*"
                      r"(:\s*[^;{]*(\{[^{}]*\}[^;{]*)*)?\{\s*$")
    control = re.compile(r"^\s*(\}\s*)?(if|for|while|switch|else|do|catch|namespace|struct|class|"
                         r"enum|union|extern|TEST|TEST_P|TEST_F)\b")
    for number, line in enumerate(lines, 1):
        opens = bool(head.search(line)) and not control.match(line)
        before = depth
        depth += line.count("{") - line.count("}")
        if opens and depth > before and not any(d[2] for d in depth_stack):
            depth_stack.append((before, number, True))
        while depth_stack and depth <= depth_stack[-1][0]:
            _, start, _ = depth_stack.pop()
            length = number - start + 1
            if length > MAX_FUNCTION_LINES:
                out.say(path, start, "function-length",
                        f"{length} lines; a function is read at once up to {MAX_FUNCTION_LINES}")


COMMENTED_CODE = re.compile(r"^\s*//\s*[\w\s:<>,&*()\[\]\.\-\+=!]*[;{}]\s*$")


def check_form(files, texts, out):
    for path in files:
        if not is_cpp(path) or is_generated(path):
            continue
        text = texts[path]
        lines = text.split("\n")
        if path.endswith(".hpp") and "#pragma once" not in text:
            out.say(path, 1, "pragma-once", "a header says #pragma once")
        if len(lines) > MAX_FILE_LINES:
            out.say(path, 1, "file-length", f"{len(lines)} lines; one file, one idea, "
                    f"at most {MAX_FILE_LINES}")
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_COLUMNS:
                out.say(path, number, "columns", f"{len(line)} columns, at most {MAX_COLUMNS}")
            if COMMENTED_CODE.match(line) and re.search(r"[=(]", line):
                out.say(path, number, "commented-out", "code in a comment")
        code = strip_comments_and_strings(text)
        check_functions(path, code, out)


def check_banned(files, texts, out):
    for path in filter(is_cpp, files):
        for number, line in enumerate(texts[path].split("\n"), 1):
            for pattern, rule, why in BANNED:
                if pattern.search(line) and not (rule == "sleep" and path.startswith("tests/")):
                    out.say(path, number, rule, why)
        if any(below(path, folder) for folder in SANS_IO):
            for number, _, target in includes_of(texts[path]):
                if target.startswith("boost/asio") or target in ("sys/socket.h", "sys/epoll.h"):
                    out.say(path, number, "sans-io", f"an engine's room may not include {target}")
        if any(below(path, folder) for folder in HOT_FOLDERS):
            code = strip_comments_and_strings(texts[path])
            # A field that only the control thread touches says so behind it.
            written = texts[path].split("\n")
            for number, line in enumerate(code.split("\n"), 1):
                match = HOT_BANNED.search(line)
                if match and "control thread" not in written[number - 1]:
                    out.say(path, number, "hot-folder",
                            f"{match.group(0)} allocates; this folder is on the hot path")


def check_rooms(root, files, out):
    for folder in TOP_FOLDERS:
        readme = f"{folder}/README.md"
        if readme not in files:
            out.say(readme, 1, "readme", "each top folder has a README.md of one screen")


def check(root):
    root = Path(root)
    files = tracked_files(root)
    texts = {}
    for path in files:
        if is_cpp(path):
            texts[path] = (root / path).read_text(encoding="utf-8", errors="replace")
    out = breaches()
    check_arrows(files, texts, out)
    check_cycles(files, texts, out)
    check_fuzz_targets(files, texts, out)
    check_form(files, texts, out)
    check_banned(files, texts, out)
    check_rooms(root, files, out)
    return out


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    found = check(root)
    for line in found:
        print(line)
    print(f"tidy: {len(found)} breaches of the house law", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
