// Turns a built page into C++: every file and, where it is smaller, its gzip form.
// Usage: node embed.mjs BUILT_FOLDER OUTPUT.cpp
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";

const contentTypes = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

const [folder, output] = process.argv.slice(2);
const bytesPerLine = 24;

function array(name, bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += bytesPerLine) {
    lines.push(`    ${[...bytes.subarray(at, at + bytesPerLine)].join(",")},`);
  }
  return `constexpr unsigned char ${name}[] = {\n${lines.join("\n")}\n};`;
}

function filesBelow(path) {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)],
  );
}

const arrays = [];
const rows = [];
for (const [index, file] of filesBelow(folder).sort().entries()) {
  const name = relative(folder, file).split(sep).join("/");
  const type = contentTypes[extname(name)];
  if (type === undefined) {
    throw new Error(`${name}: add its content type to embed.mjs`);
  }
  const bytes = readFileSync(file);
  const compressed = gzipSync(bytes, { level: 9 });
  const worthwhile = compressed.length < bytes.length * 0.95;
  arrays.push(array(`file_${index}`, bytes));
  if (worthwhile) {
    arrays.push(array(`file_${index}_gzip`, compressed));
  }
  const path = name === "index.html" ? "/" : `/${name}`;
  // Vite puts a hash of the content into the names of this folder.
  const immutable = name.startsWith("assets/");
  const gzip = worthwhile ? `file_${index}_gzip` : "{}";
  rows.push(`    asset{"${path}", "${type}", file_${index}, ${gzip}, ${immutable}},`);
}

writeFileSync(
  output,
  `// Made by web/ui/embed.mjs from the built page.
#include "web/ui/page.hpp"

namespace tagferry::web {
namespace {

${arrays.join("\n\n")}

constexpr asset files[] = {
${rows.join("\n")}
};

}  // namespace

std::span<const asset> page_assets() noexcept {
    return files;
}

}  // namespace tagferry::web
`,
);
