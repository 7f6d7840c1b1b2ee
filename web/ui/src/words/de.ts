import type { InputFault } from "../model/value_input.ts";
import type { Words } from "./en.ts";

const plural = (count: number, one: string, many: string) =>
  `${count.toLocaleString("de")} ${count === 1 ? one : many}`;

function inputFault(fault: InputFault): string {
  switch (fault.fault) {
    case "empty":
      return "Geben Sie einen Wert ein.";
    case "not_boolean":
      return `„${fault.text}“ ist weder TRUE noch FALSE.`;
    case "not_integer":
      return `„${fault.text}“ ist keine ganze Zahl (hexadezimal: 16#FF).`;
    case "not_number":
      return `„${fault.text}“ ist keine Zahl.`;
    case "range":
      return `${fault.text} liegt außerhalb des Typs: ${fault.least} bis ${fault.most}.`;
    case "too_long":
      return `${fault.characters} Zeichen; in den Text der SPS passen ${fault.most}.`;
    case "elements":
      return `${plural(fault.given, "Element", "Elemente")} eingegeben; das Feld hat ${fault.wanted}.`;
  }
}

export const de: Words = {
  locale: "de",
  decimalComma: true,
  languageName: "Deutsch",

  allWell: (plcs) => `${plural(plcs, "SPS", "SPSen")}, alles läuft.`,
  allWellTags: (good) => `${plural(good, "Variable ist", "Variablen sind")} gut.`,
  noConnections: "Keine SPS ist konfiguriert.",
  noConnectionsHint: "Eine Verbindung in tagferry.json eintragen und neu starten.",
  problems: (plcs, problems) =>
    `${plural(plcs, "SPS", "SPSen")}, ${plural(problems, "Problem", "Probleme")}:`,
  unreachable: (duration) => `seit ${duration} nicht erreichbar`,
  neverReached: (duration) => `noch nicht erreicht, seit ${duration}`,
  stoppedConnection: "angehalten",
  retryIn: (duration) => `Nächster Versuch in ${duration}.`,
  retryNow: "Versuch läuft.",
  tagsNotGood: (bad, uncertain) =>
    bad === 0
      ? `${plural(uncertain, "Variable ist", "Variablen sind")} unsicher`
      : uncertain === 0
        ? `${plural(bad, "Variable hat", "Variablen haben")} keinen guten Wert`
        : `${plural(bad, "Variable hat", "Variablen haben")} keinen guten Wert, ${uncertain} weitere unsicher`,
  andMore: (count) => `Und ${count} weitere.`,
  gatewayGone: (duration) => `Das Gateway antwortet seit ${duration} nicht.`,
  gatewayGoneHint: "Zu sehen ist, was es zuletzt sagte; die Seite verbindet sich von selbst wieder.",
  loading: "Das Gateway wird gefragt …",
  announceWell: "Alles läuft.",
  announceUnreachable: (name) => `${name} ist nicht erreichbar.`,
  announceTags: (name) => `Variablen von ${name} sind nicht gut.`,
  announceGone: "Das Gateway antwortet nicht.",

  streamStates: { connecting: "verbindet", open: "live", waiting: "keine laufenden Werte" },
  streamSlow: "dieser Browser war zu langsam für die Werte",
  streamRefused: "das Gateway nimmt diese Seite nicht an; laden Sie sie neu",
  streamStopping: "das Gateway hält an",
  streamLost: "die Verbindung ist abgerissen",
  restarted: (duration) => `Das Gateway wurde vor ${duration} neu gestartet.`,

  tilePlcs: "SPSen verbunden",
  tileTags: "Variablen",
  tileRead: "S7 lesen",
  tileReadDetail: (p95, rate) =>
    p95 === null ? `${rate} Aufträge/s` : `95 % unter ${p95} · ${rate}/s`,
  tileNoReads: "nichts wird gelesen",
  tileSessions: "OPC-UA-Sitzungen",
  tileSessionsDetail: (count) => (count === 0 ? "niemand ist verbunden" : "jetzt verbunden"),
  tileUptime: "Läuft seit",
  tileAllUp: "alle",
  tileDown: (count) => `${count} gestört`,
  good: "Gut",
  uncertain: "Unsicher",
  bad: "Schlecht",

  connections: "Verbindungen",
  states: {
    up: "verbunden",
    connecting: "verbindet",
    waiting: "nicht erreichbar",
    stopped: "angehalten",
  },
  upFor: (duration) => `seit ${duration}`,
  pdu: "PDU",
  pduHint: "Bytes einer S7-Nachricht, wie mit der SPS ausgehandelt",
  jobs: "Aufträge",
  jobsHint: "Aufträge, die die SPS gleichzeitig annimmt",
  reconnects: "Neu verbunden",
  reconnectsHint: "Wie oft die Verbindung seit dem Start des Gateways wiederkam",
  failures: "Fehlversuche",
  overruns: "Späte Zyklen",
  overrunsHint: "Zyklen, die ausfielen, weil der vorige noch lief",
  showTags: (name) => `Variablen von ${name} zeigen`,

  tags: "Variablen",
  searchLabel: "Pfad, Beschreibung, Adresse, Typ durchsuchen",
  searchPlaceholder: "Variablen suchen",
  clearSearch: "Suche löschen",
  qualityLabel: "Qualität",
  filterAll: "Alle",
  filterNotGood: "Nicht gut",
  filterWritable: "Schreibbar",
  onlyConnection: (name) => `nur ${name}`,
  showAllConnections: "Alle Verbindungen zeigen",
  columnPath: "Variable",
  columnValue: "Wert",
  columnQuality: "Qualität",
  columnAge: "Alter",
  columnAddress: "Adresse",
  columnType: "Typ",
  rowsShown: (shown, all) =>
    shown === all
      ? plural(all, "Variable", "Variablen")
      : `${shown.toLocaleString("de")} von ${plural(all, "Variable", "Variablen")}`,
  rowsLoading: (count) => `${count.toLocaleString("de")} Variablen, lädt …`,
  noMatch: "Keine Variable passt.",
  noMatchQuality: "Keine Variable hat jetzt diese Qualität.",
  noTags: "Dieses Gateway hat keine Variablen.",
  resetFilter: "Alle Variablen zeigen",
  now: "jetzt",
  last: "zuletzt",
  noValue: "kein Wert",
  lastGoodTitle: (age) => `Letzter guter Wert, ${age} alt`,
  unknown: "Unbekannt",
  unknownReason: "keine Verbindung zum Gateway",
  edit: (path) => `${path} schreiben`,

  details: "Variable",
  close: "Schließen",
  nodeId: "NodeId",
  address: "Adresse",
  type: "Typ",
  scanClass: "Abtastklasse",
  access: "Zugriff",
  accesses: { read: "nur lesen", read_write: "lesen und schreiben", write: "nur schreiben", none: "keiner" },
  sourceTime: "Zeit der Quelle",
  lastGood: "Letzter guter Wert",
  age: (duration) => `vor ${duration}`,
  remedy: "Was zu tun ist",
  trend: (duration) => `Die letzten ${duration}, wie diese Seite sie sah`,
  readOnlyHint: "Zum Schreiben in der Konfiguration der Variablen writable setzen.",

  write: "Schreiben",
  writeHeading: "Einen Wert schreiben",
  newValue: "Neuer Wert",
  elementsHint: (count) => `${count} Elemente, getrennt durch Komma oder Strichpunkt`,
  token: "Token",
  tokenHint: "Das Gateway hat es beim Start ausgegeben. Es bleibt in diesem Tab.",
  tokenKept: "Das Token dieses Tabs wird benutzt.",
  forgetToken: "Vergessen",
  writing: "Warten auf die Antwort der SPS …",
  writeDone: "Geschrieben.",
  writeDoneDetail: (value) => `Die SPS hat ${value} angenommen.`,
  writeRefused: "Abgelehnt.",
  writeNotSent: "Nicht gesendet.",
  writeUnknown: "Ausgang unbekannt.",
  writePartly: (bytes) => `Teilweise geschrieben: ${plural(bytes, "Byte", "Bytes")}.`,
  writeTokenMissing: "Das Gateway verlangt ein Token.",
  writeTokenWrong: "Das Gateway kennt dieses Token nicht.",
  writeNoAnswer:
    "Das Gateway hat nicht geantwortet: Der Wert kann geschrieben sein oder auch nicht.",
  writeNoAnswerHint: "Den Wert ansehen, bevor Sie noch einmal schreiben.",
  inputFault,

  connectClient: "Client verbinden",
  opcuaEndpoint: "OPC-UA-Endpunkt",
  opcuaSecurity: "Security Policy None, anonym. Nur auf diesem Rechner.",
  restExample: "Ein Wert über REST",
  metrics: "Prometheus-Metriken",
  copy: "Kopieren",
  copied: "Kopiert",

  theme: "Farben",
  themes: { auto: "wie das System", light: "hell", dark: "dunkel" },
  language: "Sprache",
  keys: "/ drücken zum Suchen",
};
