import { useEffect, useState } from "preact/hooks";
import { durationText, timeOf } from "../model/age.ts";
import { headlineOf, type Headline } from "../model/headline.ts";
import { useObservable } from "../model/observable.ts";
import type { Plant } from "../model/plant.ts";
import type { Selection } from "../model/selection.ts";
import type { Settings } from "../model/settings.ts";
import type { TagValues } from "../model/tag_values.ts";
import type { Words } from "../words/en.ts";
import { ConnectClient } from "./connect_client.tsx";
import { Connections } from "./connections.tsx";
import { Header } from "./header.tsx";
import { Icon } from "./icons.tsx";
import { SidePanel } from "./side_panel.tsx";
import { TagDetails } from "./tag_details.tsx";
import { TagTable } from "./tag_table.tsx";
import { Tiles } from "./tiles.tsx";

export interface Parts {
  plant: Plant;
  values: TagValues;
  settings: Settings;
  selection: Selection;
}

/** Ages and countdowns move although nothing arrives. */
function useSeconds(): void {
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
}

function TopLine({ headline }: { headline: Headline }) {
  return (
    <section class={`top-line ${headline.severity}`}>
      <Icon shape={headline.severity} />
      <h1>
        {headline.parts.map((part) => (part.strong ? <strong>{part.text}</strong> : part.text))}
      </h1>
      <p class="for-screen-readers" role="status">
        {headline.announcement}
      </p>
    </section>
  );
}

/** For how long a restart of the gateway is mentioned, in ms. */
const mentionRestart = 120_000;

/** What the top line does not say about the gateway and the link to it. */
function Notice({ plant, values, words }: Parts & { words: Words }) {
  useObservable(values);
  const { link } = values;
  if (plant.goneSince !== null) {
    return null;
  }
  if (link.state !== "waiting") {
    const age = plant.clock.now() - (timeOf(plant.status?.started) ?? 0);
    return plant.restarted && age < mentionRestart ? (
      <p class="notice" role="status">
        {words.restarted(durationText(age))}
      </p>
    ) : null;
  }
  const why =
    link.code === 4429
      ? words.streamSlow
      : link.code === 1001
        ? words.streamStopping
        : link.code === 4400
          ? words.streamRefused
          : words.streamLost;
  return <p class="notice">{`${words.streamStates.waiting}: ${why}.`}</p>;
}

export function Page(parts: Parts) {
  const { plant, settings, selection } = parts;
  useObservable(plant, settings, selection);
  useSeconds();
  const { words } = settings;
  const headline = headlineOf(plant, plant.clock.now(), words);
  const trouble = headline.severity === "bad" || headline.severity === "uncertain";
  useEffect(() => {
    document.title = `${trouble ? "⚠ " : ""}Tagferry`;
  }, [trouble]);
  return (
    <div class={plant.goneSince === null ? "page" : "page gone"}>
      <Header {...parts} words={words} />
      <TopLine headline={headline} />
      <Notice {...parts} words={words} />
      <div class="columns">
        <main class="content">
          <Tiles plant={plant} words={words} />
          <Connections plant={plant} selection={selection} words={words} />
          <TagTable {...parts} words={words} />
        </main>
        <SidePanel selection={selection} words={words}>
          {selection.tag !== "" && (
            <TagDetails key={selection.tag} {...parts} words={words} path={selection.tag} />
          )}
          <ConnectClient plant={plant} selection={selection} words={words} />
        </SidePanel>
      </div>
    </div>
  );
}
