import { pathInUrl } from "../gateway/rest.ts";
import type { Plant } from "../model/plant.ts";
import type { Selection } from "../model/selection.ts";
import type { Words } from "../words/en.ts";
import { CopyButton } from "./copy_button.tsx";

interface LineProps {
  name: string;
  text: string;
  words: Words;
}

function Line({ name, text, words }: LineProps) {
  return (
    <div class="copy-line">
      <dt>{name}</dt>
      <dd>
        <code>{text}</code>
        <CopyButton text={text} what={name} words={words} />
      </dd>
    </div>
  );
}

interface Props {
  plant: Plant;
  selection: Selection;
  words: Words;
}

export function ConnectClient({ plant, selection, words }: Props) {
  const endpoints = plant.status?.opcua.endpoints ?? [];
  const tag = selection.tag || plant.tags[0]?.path;
  return (
    <section class="connect-client" aria-label={words.connectClient}>
      <h2>{words.connectClient}</h2>
      <dl>
        {endpoints.map((endpoint) => (
          <Line name={words.opcuaEndpoint} text={endpoint} words={words} />
        ))}
      </dl>
      <p class="hint">{words.opcuaSecurity}</p>
      <dl>
        {tag !== undefined && (
          <Line
            name={words.restExample}
            text={`curl ${location.origin}/api/v1/values/${pathInUrl(tag)}`}
            words={words}
          />
        )}
        <Line name={words.metrics} text={`${location.origin}/metrics`} words={words} />
      </dl>
    </section>
  );
}
