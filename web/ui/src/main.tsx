import "./style/base.css";
import "./style/page.css";
import "./style/table.css";
import "./style/panel.css";

import { render } from "preact";
import { Stream, type Socket } from "./gateway/stream.ts";
import { Plant } from "./model/plant.ts";
import { Selection } from "./model/selection.ts";
import { Settings } from "./model/settings.ts";
import { TagValues } from "./model/tag_values.ts";
import { Page } from "./view/page.tsx";

function openSocket(): Socket {
  const url = new URL("/api/v1/stream", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url, "tagferry.v1.json");
  const wrapped: Socket = {
    send: (text) => socket.send(text),
    close: () => socket.close(),
    onopen: null,
    onmessage: null,
    onclose: null,
  };
  socket.onopen = () => wrapped.onopen?.();
  socket.onmessage = (event) => wrapped.onmessage?.(event);
  socket.onclose = (event) => wrapped.onclose?.(event);
  return wrapped;
}

const plant = new Plant();
const values = new TagValues(
  (linkChanged) =>
    new Stream(
      {
        open: openSocket,
        later: (callback, milliseconds) => void setTimeout(callback, milliseconds),
        now: () => Date.now(),
      },
      linkChanged,
    ),
);
const selection = new Selection();
plant.start();

const root = document.getElementById("app");
if (root !== null) {
  render(
    <Page plant={plant} values={values} settings={new Settings()} selection={selection} />,
    root,
  );
}
