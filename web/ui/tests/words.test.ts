import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ConnectionRow } from "../src/gateway/types.ts";
import { headlineOf } from "../src/model/headline.ts";
import { de } from "../src/words/de.ts";
import { en } from "../src/words/en.ts";
import { chooseLanguage, translated } from "../src/words/language.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString();

function connection(name: string, more: Partial<ConnectionRow> = {}): ConnectionRow {
  return {
    name, protocol: "s7", endpoint: "127.0.0.1:1103", state: "up", up: true, reason: null,
    since: at(-60), next_attempt: null, connects: 1, connect_failures: 0, requests: 0,
    request_failures: 0, overruns: 0, pdu_size: 480, window: 8,
    tags: { total: 10, good: 10, uncertain: 0, bad: 0 }, ...more,
  };
}

const down: Partial<ConnectionRow> = {
  state: "waiting", up: false, since: at(-14), next_attempt: at(2.4), connect_failures: 2,
  reason: "the PLC stopped answering: check its power, and cable and switches",
  tags: { total: 10, good: 0, uncertain: 0, bad: 10 },
};

function line(connections: ConnectionRow[] | null, words = en, goneSince: number | null = null) {
  const headline = headlineOf({ connections, goneSince }, now, words);
  return { ...headline, text: headline.parts.map((part) => part.text).join("") };
}

test("nothing is wrong", () => {
  const said = line([connection("press"), connection("boiler")]);
  assert.equal(said.severity, "good");
  assert.equal(said.text, "2 PLCs, everything works. 20 tags are good.");
});

test("an unreachable PLC is named, with since when, why and when it is tried again", () => {
  const rows = [connection("press"), connection("boiler", down)];
  const said = line(rows);
  assert.equal(said.severity, "bad");
  assert.equal(
    said.text,
    "2 PLCs, 1 problem: boiler unreachable for 14 s (the PLC stopped answering, " +
      "127.0.0.1:1103). Retry in 3 s.",
  );
  assert.equal(said.announcement, "boiler is unreachable.");
  assert.equal(
    line(rows, de).text,
    "2 SPSen, 1 Problem: boiler seit 14 s nicht erreichbar (die SPS antwortet nicht mehr, " +
      "127.0.0.1:1103). Nächster Versuch in 3 s.",
  );
});

test("links come before tags, and the rest is counted", () => {
  const said = line([
    connection("mill", { tags: { total: 10, good: 7, uncertain: 1, bad: 2 } }),
    connection("boiler", { ...down, state: "connecting", next_attempt: null }),
  ]);
  assert.match(said.text, /^2 PLCs, 2 problems: boiler unreachable .* Trying now\. And 1 more\.$/);
});

test("tags that are not good are a problem of their connection", () => {
  assert.equal(
    line([connection("mill", { tags: { total: 10, good: 7, uncertain: 1, bad: 2 } })]).text,
    "1 PLC, 1 problem: mill: 2 tags have no good value, 1 more uncertain.",
  );
  const uncertain = line([connection("mill", { tags: { total: 9, good: 8, uncertain: 1, bad: 0 } })]);
  assert.equal(uncertain.severity, "uncertain");
});

test("a connection that only just begins is no problem", () => {
  const row = connection("press", {
    state: "connecting", up: false, since: at(-1), connects: 0,
    tags: { total: 0, good: 0, uncertain: 0, bad: 0 },
  });
  assert.equal(line([row]).severity, "good");
  assert.match(line([{ ...row, since: at(-9) }]).text, /press not reached yet, for 9 s/);
});

test("a gateway that does not answer, has no PLCs, or was not asked yet", () => {
  assert.match(line([connection("press")], en, now - 5000).text, /not answered for 5 s/);
  assert.match(line([]).text, /^No PLC is configured/);
  assert.equal(line(null).severity, "unknown");
});

test("the language is the first wanted one that the page speaks", () => {
  assert.equal(chooseLanguage(["fr-CH", "de-AT", "en"]), "de");
  assert.equal(chooseLanguage(["ja"]), "en");
});

test("both languages say everything", () => {
  assert.deepEqual(Object.keys(de).sort(), Object.keys(en).sort());
});

test("every reason of the gateway has its German text", (context) => {
  const root = process.env["TAGFERRY_SOURCE"] ?? join(process.cwd(), "../..");
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  if (!existsSync(join(root, "gateway/model/catalogue.cpp"))) {
    context.skip("the gateway's sources are not here");
    return;
  }
  // Neighbouring literals are one text.
  const literals = (text: string) =>
    [...text.matchAll(/(?:"(?:[^"\\]|\\.)*"\s*)+/g)].map(([match]) =>
      [...match.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((part) => part[1]).join(""),
    );
  const catalogue = read("gateway/model/catalogue.cpp")
    .split("constexpr std::array catalogue")[1]
    ?.split("constexpr bool")[0]
    ?.split("reason_entry{")
    .slice(1)
    .flatMap((entry) => literals(entry).slice(1)) ?? [];
  // A function's body ends at its closing brace in the first column.
  const wordsOf = (path: string) =>
    read(path)
      .split(/std::string_view words_of\((?:link_reason|connect_failure|transport::close_reason)/)
      .slice(1)
      .flatMap((rest) => literals(rest.split("\n}")[0] ?? ""));
  const said = new Set([
    ...catalogue,
    ...["protocols/s7", "gateway/sources"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".cpp"))
        .flatMap((name) => wordsOf(`${folder}/${name}`)),
    ),
  ].filter(Boolean));
  assert.ok(said.size > 70, `only ${said.size} reasons found`);
  assert.deepEqual([...said].filter((text) => translated(text, de) === text), []);
});
