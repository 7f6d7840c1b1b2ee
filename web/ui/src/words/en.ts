// Everything the page says, in English. `de.ts` has the same shape.
import type { InputFault } from "../model/value_input.ts";

const plural = (count: number, one: string, many: string) =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

function inputFault(fault: InputFault): string {
  switch (fault.fault) {
    case "empty":
      return "Enter a value.";
    case "not_boolean":
      return `“${fault.text}” is neither TRUE nor FALSE.`;
    case "not_integer":
      return `“${fault.text}” is no whole number (hexadecimal: 16#FF).`;
    case "not_number":
      return `“${fault.text}” is no number.`;
    case "range":
      return `${fault.text} is outside the type: ${fault.least} to ${fault.most}.`;
    case "too_long":
      return `${plural(fault.characters, "character", "characters")}; the PLC's text takes ${fault.most}.`;
    case "elements":
      return `${plural(fault.given, "element", "elements")} given; the array has ${fault.wanted}.`;
  }
}

export const en = {
  locale: "en",
  decimalComma: false,
  languageName: "English",

  // The top line.
  allWell: (plcs: number) => `${plural(plcs, "PLC", "PLCs")}, everything works.`,
  allWellTags: (good: number) => `${plural(good, "tag is", "tags are")} good.`,
  noConnections: "No PLC is configured.",
  noConnectionsHint: "Add a connection to tagferry.json and start again.",
  problems: (plcs: number, problems: number) =>
    `${plural(plcs, "PLC", "PLCs")}, ${plural(problems, "problem", "problems")}:`,
  unreachable: (duration: string) => `unreachable for ${duration}`,
  neverReached: (duration: string) => `not reached yet, for ${duration}`,
  stoppedConnection: "stopped",
  retryIn: (duration: string) => `Retry in ${duration}.`,
  retryNow: "Trying now.",
  tagsNotGood: (bad: number, uncertain: number) =>
    bad === 0
      ? `${plural(uncertain, "tag is", "tags are")} uncertain`
      : uncertain === 0
        ? `${plural(bad, "tag has", "tags have")} no good value`
        : `${plural(bad, "tag has", "tags have")} no good value, ${uncertain} more uncertain`,
  andMore: (count: number) => `And ${count} more.`,
  gatewayGone: (duration: string) => `The gateway has not answered for ${duration}.`,
  gatewayGoneHint: "What you see is the last it said; the page reconnects by itself.",
  loading: "Asking the gateway …",
  announceWell: "Everything works.",
  announceUnreachable: (name: string) => `${name} is unreachable.`,
  announceTags: (name: string) => `Tags of ${name} are not good.`,
  announceGone: "The gateway does not answer.",

  // The stream.
  streamStates: { connecting: "connecting", open: "live", waiting: "no live values" },
  streamSlow: "this browser was too slow to take the values",
  streamRefused: "the gateway does not take this page; reload it",
  streamStopping: "the gateway is stopping",
  streamLost: "the connection broke",
  restarted: (duration: string) => `The gateway was restarted ${duration} ago.`,

  // Tiles.
  tilePlcs: "PLCs connected",
  tileTags: "Tags",
  tileRead: "S7 read",
  tileReadDetail: (p95: string | null, rate: string) =>
    p95 === null ? `${rate} reads/s` : `95 % within ${p95} · ${rate}/s`,
  tileNoReads: "nothing is read",
  tileSessions: "OPC UA sessions",
  tileSessionsDetail: (count: number): string => (count === 0 ? "nobody is connected" : "connected now"),
  tileUptime: "Running for",
  tileAllUp: "all",
  tileDown: (count: number) => `${count} down`,
  good: "Good",
  uncertain: "Uncertain",
  bad: "Bad",

  // Connections.
  connections: "Connections",
  states: { up: "connected", connecting: "connecting", waiting: "unreachable", stopped: "stopped" },
  upFor: (duration: string) => `for ${duration}`,
  pdu: "PDU",
  pduHint: "Bytes in one S7 message, as negotiated with the PLC",
  jobs: "Jobs",
  jobsHint: "Requests the PLC takes at the same time",
  reconnects: "Reconnects",
  reconnectsHint: "Times the connection came up again since the gateway started",
  failures: "Failed attempts",
  overruns: "Late scans",
  overrunsHint: "Scans skipped because the one before was not over",
  showTags: (name: string) => `Show the tags of ${name}`,

  // The table.
  tags: "Tags",
  searchLabel: "Search path, description, address, type",
  searchPlaceholder: "Search tags",
  clearSearch: "Clear the search",
  qualityLabel: "Quality",
  filterAll: "All",
  filterNotGood: "Not good",
  filterWritable: "Writable",
  onlyConnection: (name: string) => `only ${name}`,
  showAllConnections: "Show all connections",
  columnPath: "Tag",
  columnValue: "Value",
  columnQuality: "Quality",
  columnAge: "Age",
  columnAddress: "Address",
  columnType: "Type",
  rowsShown: (shown: number, all: number) =>
    shown === all
      ? plural(all, "tag", "tags")
      : `${shown.toLocaleString("en")} of ${plural(all, "tag", "tags")}`,
  rowsLoading: (count: number) => `${count.toLocaleString("en")} tags, loading …`,
  noMatch: "No tag matches.",
  noMatchQuality: "No tag has this quality now.",
  noTags: "This gateway has no tags.",
  resetFilter: "Show all tags",
  now: "now",
  last: "last",
  noValue: "no value",
  lastGoodTitle: (age: string) => `Last good value, ${age} old`,
  unknown: "Unknown",
  unknownReason: "no connection to the gateway",
  edit: (path: string) => `Write ${path}`,

  // Details.
  details: "Tag",
  close: "Close",
  nodeId: "NodeId",
  address: "Address",
  type: "Type",
  scanClass: "Scan class",
  access: "Access",
  accesses: { read: "read only", read_write: "read and write", write: "write only", none: "none" },
  sourceTime: "Source time",
  lastGood: "Last good value",
  age: (duration: string) => `${duration} ago`,
  remedy: "What to do",
  trend: (duration: string) => `The last ${duration}, as this page saw it`,
  readOnlyHint: "Set writable in the tag's configuration to write it.",

  // Writing.
  write: "Write",
  writeHeading: "Write a value",
  newValue: "New value",
  elementsHint: (count: number) => `${count} elements, separated by commas or semicolons`,
  token: "Token",
  tokenHint: "Printed by the gateway when it started. Kept in this tab only.",
  tokenKept: "The token of this tab is used.",
  forgetToken: "Forget it",
  writing: "Waiting for the PLC's answer …",
  writeDone: "Written.",
  writeDoneDetail: (value: string) => `The PLC accepted ${value}.`,
  writeRefused: "Refused.",
  writeNotSent: "Not sent.",
  writeUnknown: "Outcome unknown.",
  writePartly: (bytes: number) => `Partly written: ${plural(bytes, "byte", "bytes")}.`,
  writeTokenMissing: "The gateway asks for a token.",
  writeTokenWrong: "The gateway does not know this token.",
  writeNoAnswer: "The gateway did not answer: the value may or may not have been written.",
  writeNoAnswerHint: "Look at the value before writing again.",
  inputFault,

  // The right rail.
  connectClient: "Connect a client",
  opcuaEndpoint: "OPC UA endpoint",
  opcuaSecurity: "Security policy None, anonymous. On this machine only.",
  restExample: "One value over REST",
  metrics: "Prometheus metrics",
  copy: "Copy",
  copied: "Copied",

  // The frame.
  theme: "Colours",
  themes: { auto: "as the system", light: "light", dark: "dark" },
  language: "Language",
  keys: "Press / to search",
};

export type Words = typeof en;
