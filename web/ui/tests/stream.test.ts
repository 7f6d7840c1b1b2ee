import assert from "node:assert/strict";
import { test } from "node:test";
import { Stream, type Sample, type Socket } from "../src/gateway/stream.ts";
import { filterTags, partsOfPath, prepareTag, type Filter } from "../src/model/tag_filter.ts";
import { inParts } from "../src/model/parts.ts";
import { visibleWindow } from "../src/model/window.ts";

/** The gateway's end of a stream, by hand. */
class Peer {
  sent: { op: string; id: number; tags?: string[] }[] = [];
  sockets: Socket[] = [];
  timers: { callback: () => void; milliseconds: number }[] = [];
  time = 0;

  readonly environment = {
    open: () => {
      const socket: Socket = {
        send: (text) => this.sent.push(JSON.parse(text)),
        close: () => undefined,
        onopen: null,
        onmessage: null,
        onclose: null,
      };
      this.sockets.push(socket);
      return socket;
    },
    later: (callback: () => void, milliseconds: number) => {
      this.timers.push({ callback, milliseconds });
    },
    now: () => this.time,
  };

  get socket(): Socket {
    return this.sockets.at(-1) as Socket;
  }

  accept(): void {
    this.socket.onopen?.();
  }

  say(message: object): void {
    this.socket.onmessage?.({ data: JSON.stringify(message) });
  }

  drop(code: number): void {
    this.socket.onclose?.({ code });
  }

  elapse(): number {
    const timer = this.timers.shift();
    timer?.callback();
    return timer?.milliseconds ?? -1;
  }
}

function subscribed() {
  const peer = new Peer();
  const stream = new Stream(peer.environment, () => undefined);
  const seen: Sample[] = [];
  let complete = 0;
  peer.accept();
  const subscription = stream.subscribe(["press/*"], 250, {
    values: (samples) => seen.push(...samples),
    complete: () => {
      complete += 1;
    },
  });
  const id = peer.sent[0]?.id ?? 0;
  peer.say({ op: "subscribed", id, tags: [[0, "press/a", "REAL", "mm"]], more: true });
  peer.say({ op: "subscribed", id, tags: [[1, "press/b", "INT", null]], more: false });
  return { peer, stream, seen, subscription, id, completed: () => complete };
}

test("snapshot and deltas become samples of paths", () => {
  const { peer, stream, seen, id, completed } = subscribed();
  peer.say({ op: "reasons", reasons: [[2, "no connection to the PLC", "check cable"]] });
  peer.say({ op: "snapshot", id, seq: 1, values: [[0, 1.5, "Good", 1000]], more: true });
  assert.equal(completed(), 0);
  peer.say({ op: "snapshot", id, seq: 2, values: [[1, 7]], more: false });
  assert.equal(completed(), 1);
  peer.say({ op: "delta", id, seq: 3, values: [[0, null, "BadNoCommunication", 1000, 2]], conflated: 4 });
  assert.deepEqual(seen, [
    { path: "press/a", value: 1.5, status: "Good", timestamp: 1000, reason: 0 },
    { path: "press/b", value: 7, status: "Good", timestamp: null, reason: 0 },
    { path: "press/a", value: null, status: "BadNoCommunication", timestamp: 1000, reason: 2 },
  ]);
  assert.equal(stream.reasons.get(2)?.words, "no connection to the PLC");
  assert.equal(stream.conflated, 4);
});

test("after a gap in the sequence everything is asked for again, and the old is ignored", () => {
  const { peer, seen, id } = subscribed();
  peer.say({ op: "snapshot", id, seq: 1, values: [[0, 1]], more: false });
  peer.say({ op: "delta", id, seq: 3, values: [[0, 3]] });
  assert.equal(seen.length, 1);
  assert.deepEqual(peer.sent.slice(1).map(({ op }) => op), ["unsubscribe", "subscribe"]);
  peer.say({ op: "delta", id, seq: 4, values: [[0, 4]] });
  assert.equal(seen.length, 1);
});

test("a broken connection comes back with all its subscriptions, ever more patiently", () => {
  const { peer, stream } = subscribed();
  peer.drop(1001);
  assert.deepEqual([stream.link.state, stream.link.code], ["waiting", 1001]);
  assert.equal(peer.elapse(), 500);
  peer.drop(1006);
  assert.equal(peer.elapse(), 1000);
  peer.drop(1006);
  peer.elapse();
  peer.drop(1006);
  peer.elapse();
  peer.drop(1006);
  assert.equal(peer.elapse(), 5000);
  peer.accept();
  assert.equal(stream.link.state, "open");
  assert.deepEqual(peer.sent.at(-1)?.tags, ["press/*"]);
  peer.drop(1006);
  assert.equal(peer.elapse(), 500);
});

test("changed tags are subscribed to again; a closed subscription is not", () => {
  const { peer, subscription, id } = subscribed();
  peer.say({ op: "changed", id });
  const again = peer.sent.at(-1);
  assert.equal(again?.op, "subscribe");
  assert.notEqual(again?.id, id);
  subscription.close();
  assert.deepEqual(peer.sent.at(-1), { op: "unsubscribe", id: again?.id });
  peer.drop(1006);
  const before = peer.sent.length;
  peer.elapse();
  peer.accept();
  assert.equal(peer.sent.length, before);
});

test("a refused subscription is tried again later", () => {
  const { peer, id } = subscribed();
  peer.say({ op: "error", id, code: "busy", detail: "too many" });
  const before = peer.sent.length;
  assert.equal(peer.elapse(), 1000);
  assert.equal(peer.sent.length, before + 1);
});

const tags = [
  { path: "press/tank/level", description: "Ölstand", access: "read" as const },
  { path: "press/recipe/setpoint", description: null, access: "read_write" as const },
  { path: "boiler/steam/pressure", description: null, access: "read" as const },
].map((tag) =>
  prepareTag({
    ...tag, node_id: "", type: "REAL", address: "DB1.DBD0", scan_class: "fast", unit: null,
  }),
);
const all: Filter = { text: "", quality: "all", connection: "", writableOnly: false };
const paths = (filter: Partial<Filter>, bad: string[] = []) =>
  filterTags(tags, { ...all, ...filter }, (path) => (bad.includes(path) ? "bad" : "good")).map(
    ({ path }) => path,
  );

test("the filter takes words anywhere, quality, connection and what can be written", () => {
  assert.equal(paths({}).length, 3);
  assert.deepEqual(paths({ text: "öl" }), ["press/tank/level"]);
  assert.deepEqual(paths({ text: "press set db1" }), ["press/recipe/setpoint"]);
  assert.deepEqual(paths({ connection: "press" }), ["press/tank/level", "press/recipe/setpoint"]);
  assert.deepEqual(paths({ writableOnly: true }), ["press/recipe/setpoint"]);
  assert.deepEqual(paths({ quality: "not_good" }, ["press/tank/level"]), ["press/tank/level"]);
  assert.deepEqual(filterTags(tags, { ...all, quality: "not_good" }, () => null), []);
});

test("a path is shown with its names as people wrote them", () => {
  assert.deepEqual(partsOfPath("oven/a%2Fb/m%C3%BChle"), { groups: "oven/a/b/", name: "mühle" });
  assert.deepEqual(partsOfPath("oven/100%"), { groups: "oven/", name: "100%" });
});

test("only the rows around the screen exist", () => {
  assert.deepEqual(visibleWindow(0, 340, 34, 50_000, 8), { first: 0, end: 18 });
  assert.deepEqual(visibleWindow(34_000, 340, 34, 50_000, 8), { first: 992, end: 1018 });
  assert.deepEqual(visibleWindow(1e9, 340, 34, 10, 8), { first: 10, end: 10 });
});

test("paths that are too long for one message go in several", () => {
  assert.deepEqual(inParts([], 100), []);
  assert.deepEqual(inParts(["a", "b"], 100), [["a", "b"]]);
  const long = "x".repeat(20);
  assert.deepEqual(inParts([long, long, long], 130), [[long, long], [long]]);
  assert.deepEqual(inParts(["x".repeat(99)], 100).length, 1);
});
