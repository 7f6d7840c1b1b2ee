import assert from "node:assert/strict";
import { test } from "node:test";
import { durationText, GatewayClock, timeOf } from "../src/model/age.ts";
import { qualityOf } from "../src/model/quality.ts";
import { latencyBetween, secondsText } from "../src/model/read_latency.ts";
import { parseType } from "../src/model/tag_type.ts";
import { Trend } from "../src/model/trend.ts";
import { inputText, parseInput } from "../src/model/value_input.ts";
import { valueText } from "../src/model/value_text.ts";

const brief = { exact: false, decimalComma: false };
const exact = { exact: true, decimalComma: false };
const text = (value: Parameters<typeof valueText>[0], type: string, options = brief) =>
  valueText(value, parseType(type), options);
const input = (typed: string, type: string) => parseInput(typed, parseType(type));

test("a type says kind, width and length", () => {
  assert.deepEqual(parseType("ARRAY[0..9] OF INT"), {
    kind: "integer", bits: 16, signed: true, length: 10, characters: null,
  });
  assert.deepEqual(parseType("string[20]"), {
    kind: "text", bits: 0, signed: false, length: null, characters: 20,
  });
  assert.equal(parseType("ARRAY[1..3] OF STRING[8]").characters, 8);
  assert.equal(parseType("ARRAY[-1..1] OF BOOL").length, 3);
  assert.equal(parseType("STRING").characters, 254);
  assert.equal(parseType("DTL").kind, "other");
});

test("a value is shown as its type is read", () => {
  assert.equal(text(true, "BOOL"), "TRUE");
  assert.equal(text(255, "WORD"), "16#00FF");
  assert.equal(text("18446744073709551615", "LWORD"), "16#FFFFFFFFFFFFFFFF");
  assert.equal(text("-9223372036854775808", "LINT"), "-9223372036854775808");
  assert.equal(text("Gehäuse", "STRING[20]"), "Gehäuse");
  assert.equal(text(null, "REAL"), "");
});

test("a float keeps its width and its special values", () => {
  assert.equal(text(1406.2407, "REAL"), "1406.2");
  assert.equal(text(46.460575, "REAL"), "46.461");
  assert.equal(text(46.460575, "REAL", exact), "46.460575");
  assert.equal(valueText(46.460575, parseType("REAL"), { exact: false, decimalComma: true }), "46,461");
  assert.equal(text(1.5e12, "LREAL"), "1.5000e+12");
  assert.equal(text(0, "REAL"), "0.0000");
  assert.equal(text("NaN", "REAL"), "NaN");
  assert.equal(text("-Infinity", "LREAL"), "−∞");
});

test("an array shows its elements, a long one how many", () => {
  assert.equal(text([1, 2, 3], "ARRAY[0..2] OF INT"), "[1, 2, 3]");
  assert.equal(text(["a", 'b"'], "ARRAY[0..1] OF STRING[4]"), '["a", "b\\""]');
  const long = [...Array(20).keys()];
  assert.match(text(long, "ARRAY[0..19] OF INT"), /15, … 20\]$/);
  assert.match(text(long, "ARRAY[0..19] OF INT", exact), /18, 19\]$/);
  assert.equal(
    valueText([1.5, 2], parseType("ARRAY[0..1] OF REAL"), { exact: true, decimalComma: true }),
    "[1,5; 2]",
  );
});

test("what is typed becomes what the gateway takes", () => {
  assert.deepEqual(input("12,5", "REAL"), { value: 12.5 });
  assert.deepEqual(input("-1.5e3", "REAL"), { value: -1500 });
  assert.deepEqual(input("nan", "REAL"), { value: "NaN" });
  assert.deepEqual(input("-inf", "LREAL"), { value: "-Infinity" });
  assert.deepEqual(input("16#FF", "BYTE"), { value: 255 });
  assert.deepEqual(input("2#1010", "BYTE"), { value: 10 });
  assert.deepEqual(input("9223372036854775807", "LINT"), { value: "9223372036854775807" });
  assert.deepEqual(input("wahr", "BOOL"), { value: true });
  assert.deepEqual(input(" 007 ", "STRING[10]"), { value: " 007 " });
  assert.deepEqual(input("", "STRING[10]"), { value: "" });
});

test("what cannot be written is said before it is sent", () => {
  assert.deepEqual(input("40000", "INT"), {
    fault: "range", text: "40000", least: "-32768", most: "32767",
  });
  assert.deepEqual(input("-1", "ULINT"), {
    fault: "range", text: "-1", least: "0", most: "18446744073709551615",
  });
  assert.deepEqual(input("1e39", "REAL"), {
    fault: "range", text: "1e39", least: "-3.402823e38", most: "3.402823e38",
  });
  assert.deepEqual(input("1.5", "INT"), { fault: "not_integer", text: "1.5" });
  assert.deepEqual(input("1.000.000", "REAL"), { fault: "not_number", text: "1.000.000" });
  assert.deepEqual(input("", "INT"), { fault: "empty" });
  assert.deepEqual(input("maybe", "BOOL"), { fault: "not_boolean", text: "maybe" });
  assert.deepEqual(input("äöü", "STRING[2]"), { fault: "too_long", characters: 3, most: 2 });
});

test("an array is typed with commas, semicolons or quotes", () => {
  assert.deepEqual(input("[1, 2, 3]", "ARRAY[0..2] OF INT"), { value: [1, 2, 3] });
  assert.deepEqual(input("1,5; 2,5", "ARRAY[0..1] OF REAL"), { value: [1.5, 2.5] });
  assert.deepEqual(input('"a, b", c', "ARRAY[0..1] OF STRING[8]"), { value: ["a, b", "c"] });
  assert.deepEqual(input("1, 2", "ARRAY[0..2] OF INT"), { fault: "elements", given: 2, wanted: 3 });
  assert.deepEqual(input("1, x, 3", "ARRAY[0..2] OF INT"), { fault: "not_integer", text: "x" });
  for (const [value, type] of [
    [[1, 2, 3], "ARRAY[0..2] OF INT"],
    [["a, b", 'q"'], "ARRAY[0..1] OF STRING[8]"],
    [[true, false], "ARRAY[0..1] OF BOOL"],
  ] as const) {
    assert.deepEqual(input(inputText([...value], parseType(type)), type), { value });
  }
});

test("quality is the severity of the status", () => {
  assert.equal(qualityOf("Good"), "good");
  assert.equal(qualityOf("UncertainLastUsableValue"), "uncertain");
  assert.equal(qualityOf("BadNoCommunication"), "bad");
});

test("durations have at most two units", () => {
  assert.equal(durationText(-5), "0 s");
  assert.equal(durationText(59_999), "59 s");
  assert.equal(durationText(200_000), "3 min 20 s");
  assert.equal(durationText(7_500_000), "2 h 5 min");
  assert.equal(durationText(86_400_000 * 3), "3 d");
});

test("times follow the clock of the gateway", () => {
  const clock = new GatewayClock();
  const local = Date.now();
  clock.hear(new Date(local + 3_600_000).toISOString(), local - 5, local + 5);
  assert.ok(Math.abs(clock.now() - Date.now() - 3_600_000) < 1000);
  // An answer that took long says it worse and is not believed.
  clock.hear(new Date(local).toISOString(), local - 4000, local);
  assert.ok(Math.abs(clock.now() - Date.now() - 3_600_000) < 1000);
  assert.equal(timeOf("2024-02-29T12:00:00.250Z"), 1709208000250);
  assert.equal(timeOf(null), null);
});

test("latency is what happened between two readings", () => {
  const before = { operations: 100, seconds: 1, buckets: [[0.002, 100], [0.01, 0], [null, 0]] };
  const after = { operations: 300, seconds: 1.4, buckets: [[0.002, 290], [0.01, 10], [null, 0]] };
  type Durations = Parameters<typeof latencyBetween>[0];
  const latency = latencyBetween(before as Durations, after as Durations, 10);
  assert.ok(Math.abs((latency.mean ?? 0) - 0.002) < 1e-9);
  assert.equal(latency.p95, 0.002);
  assert.equal(latency.perSecond, 20);
  assert.equal(latencyBetween(after as Durations, after as Durations, 1).mean, null);
  assert.equal(secondsText(0.0011, true), "1,1 ms");
  assert.equal(secondsText(0.00019, false), "190 µs");
});

test("a trend holds a value until the next and breaks where there was none", () => {
  const trend = new Trend(10_000);
  trend.add(0, 0);
  trend.add(5000, 10);
  trend.add(7000, null);
  trend.add(8000, 5);
  assert.equal(trend.path(10_000, 100, 10), "M0 10H50V0H70M80 5H100");
  trend.add(30_000, 5);
  assert.equal(trend.points.length, 2);
  assert.deepEqual(trend.range(), { least: 5, most: 5 });
});
