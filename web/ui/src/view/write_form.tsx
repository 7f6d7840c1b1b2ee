import { useEffect, useRef, useState } from "preact/hooks";
import type { TagValue } from "../gateway/types.ts";
import { writeValue, type WriteOutcome } from "../gateway/write.ts";
import type { Selection } from "../model/selection.ts";
import type { Settings } from "../model/settings.ts";
import type { Tag } from "../model/tag_filter.ts";
import type { TagType } from "../model/tag_type.ts";
import { inputText, isFault, parseInput } from "../model/value_input.ts";
import { valueText } from "../model/value_text.ts";
import type { Words } from "../words/en.ts";
import { sentence, translated } from "../words/language.ts";
import { Icon } from "./icons.tsx";

interface Done {
  outcome: WriteOutcome;
  value: TagValue;
}

interface Said {
  severity: "good" | "uncertain" | "bad";
  heading: string;
  detail: string;
  hint: string;
}

function sayOutcome({ outcome, value }: Done, type: TagType, words: Words): Said {
  const because = (severity: Said["severity"], heading: string): Said => ({
    severity,
    heading,
    detail: "detail" in outcome ? translated(outcome.detail, words) : "",
    hint: "hint" in outcome ? translated(outcome.hint, words) : "",
  });
  switch (outcome.kind) {
    case "written": {
      const text = valueText(value, type, { exact: true, decimalComma: words.decimalComma });
      return {
        severity: "good",
        heading: words.writeDone,
        detail: words.writeDoneDetail(text),
        hint: "",
      };
    }
    case "refused":
      return because("bad", words.writeRefused);
    case "not_sent":
      return because("bad", words.writeNotSent);
    case "unknown":
      return because("uncertain", words.writeUnknown);
    case "partial":
      return because("uncertain", words.writePartly(outcome.bytes));
    case "token_missing":
      return { ...because("bad", words.writeTokenMissing), hint: words.tokenHint };
    case "token_wrong":
      return { ...because("bad", words.writeTokenWrong), hint: words.tokenHint };
    case "no_answer":
      return {
        severity: "uncertain",
        heading: words.writeUnknown,
        detail: words.writeNoAnswer,
        hint: words.writeNoAnswerHint,
      };
  }
}

function Outcome({ done, type, words }: { done: Done; type: TagType; words: Words }) {
  const { severity, heading, detail, hint } = sayOutcome(done, type, words);
  return (
    <div class={`outcome ${severity}`}>
      <Icon shape={severity} />
      <p>
        <strong>{heading}</strong> {[detail, hint].filter(Boolean).map(sentence).join(" ")}
      </p>
    </div>
  );
}

interface TokenProps {
  settings: Settings;
  words: Words;
  typed: string;
  onType: (token: string) => void;
}

function TokenField({ settings, words, typed, onType }: TokenProps) {
  if (settings.token !== null) {
    return (
      <p class="hint">
        {words.tokenKept}{" "}
        <button type="button" class="link" onClick={() => settings.setToken(null)}>
          {words.forgetToken}
        </button>
      </p>
    );
  }
  return (
    <label class="field">
      <span>{words.token}</span>
      <input
        type="password"
        name="token"
        autocomplete="off"
        value={typed}
        aria-describedby="token-hint"
        onInput={(event) => onType(event.currentTarget.value)}
      />
      <small id="token-hint">{words.tokenHint}</small>
    </label>
  );
}

interface ValueFieldProps {
  type: TagType;
  text: string;
  focus: boolean;
  words: Words;
  onType: (text: string) => void;
}

function ValueField({ type, text, focus, words, onType }: ValueFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (focus) {
      field.current?.focus();
      field.current?.select();
    }
  }, [focus]);
  if (type.kind === "boolean" && type.length === null) {
    return (
      <div class="segments" role="group" aria-label={words.newValue}>
        {["TRUE", "FALSE"].map((each) => (
          <button
            type="button"
            class="segment"
            aria-pressed={text.toUpperCase() === each}
            onClick={() => onType(each)}
          >
            {each}
          </button>
        ))}
      </div>
    );
  }
  return (
    <label class="field">
      <span>{words.newValue}</span>
      <input
        ref={field}
        type="text"
        name="value"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => onType(event.currentTarget.value)}
      />
      {type.length !== null && <small>{words.elementsHint(type.length)}</small>}
    </label>
  );
}

interface Props {
  settings: Settings;
  selection: Selection;
  words: Words;
  tag: Tag;
  type: TagType;
  present: TagValue;
}

export function WriteForm({ settings, selection, words, tag, type, present }: Props) {
  // The form starts with the value that was there first, and does not move with it.
  const start = useRef<TagValue>(null);
  start.current ??= present;
  const [typed, setTyped] = useState<string | null>(null);
  const [token, setToken] = useState("");
  const [fault, setFault] = useState("");
  const [writing, setWriting] = useState(false);
  const [done, setDone] = useState<Done | null>(null);
  const text = typed ?? inputText(start.current, type);
  const keep = (value: string) => {
    setTyped(value);
    setFault("");
    setDone(null);
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    const input = parseInput(text, type);
    if (isFault(input)) {
      setFault(words.inputFault(input));
      setDone(null);
      return;
    }
    setFault("");
    setDone(null);
    setWriting(true);
    const credential = settings.token ?? (token.trim() || null);
    const outcome = await writeValue(tag.path, input.value, credential);
    setWriting(false);
    setDone({ outcome, value: input.value });
    if (outcome.kind === "token_wrong" || outcome.kind === "token_missing") {
      settings.setToken(null);
    } else if (outcome.kind !== "no_answer" && credential !== null) {
      settings.setToken(credential);
      setToken("");
    }
  };
  return (
    <form class="write-form" aria-label={words.writeHeading} onSubmit={(e) => void submit(e)}>
      <h3>{words.writeHeading}</h3>
      <ValueField
        type={type}
        text={text}
        focus={selection.editing}
        words={words}
        onType={keep}
      />
      <TokenField settings={settings} words={words} typed={token} onType={setToken} />
      <button type="submit" class="primary" disabled={writing}>
        {words.write}
      </button>
      <div role="status" aria-live="polite">
        {writing && <p class="hint">{words.writing}</p>}
        {fault !== "" && <p class="fault">{fault}</p>}
        {done !== null && <Outcome done={done} type={type} words={words} />}
      </div>
    </form>
  );
}
