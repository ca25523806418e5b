import { useState } from "preact/hooks";

import type { Session, Turn } from "../../api/types.ts";
import { type ChatItem, toolDuration, toolSummary } from "../../model/conversation.ts";
import { duration } from "../../model/format.ts";
import { sessionPath } from "../../model/routes.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { ClockTime } from "../../parts/since.tsx";

// Longer results are cut until a person asks for the rest.
const SHOWN_CHARS = 4000;

/** An item of a conversation. `speaker` is the name of the agent that it belongs to. */
export function ChatEntry(props: {
  item: ChatItem;
  session: Session;
  speaker: string;
  isLinked: boolean;
}) {
  const { item, session } = props;
  switch (item.type) {
    case "said":
      return (
        <Said
          id={item.key}
          by={item.by}
          turn={item.turn}
          session={session}
          speaker={props.speaker}
          isLinked={props.isLinked}
        />
      );
    case "tool":
      return <ToolCall item={item} />;
    case "separator":
      return (
        <li class="separator" id={item.key}>
          <details>
            <summary>earlier turns were summarized</summary>
            <Markdown text={item.turn.text} />
          </details>
        </li>
      );
  }
}

function Said(props: {
  id: string;
  by: "user" | "assistant";
  turn: Turn;
  session: Session;
  speaker: string;
  isLinked: boolean;
}) {
  const { id, by, turn, session, speaker } = props;
  return (
    <li
      id={id}
      class={`said by-${by}${props.isLinked ? " is-linked" : ""}`}
      aria-current={props.isLinked ? "true" : undefined}
    >
      <div class="said-head">
        <strong>{by === "user" ? "you" : speaker}</strong>
        {turn.model && <span class="dim">{turn.model}</span>}
        {turn.at && <ClockTime at={turn.at} />}
        <span class="said-tools">
          <CopyButton text={turn.text} label="Copy this turn" />
          <a
            class="button quiet small"
            href={`${sessionPath(session.id, "talk")}#${id}`}
            title="Link to this turn"
          >
            <Icon name="link" size={14} />
            <span class="unseen">Link to this turn</span>
          </a>
        </span>
      </div>
      <Markdown text={turn.text} />
    </li>
  );
}

function ToolCall({ item }: { item: ChatItem & { type: "tool" } }) {
  const took = toolDuration(item.call, item.result);
  const hasFailed = item.result?.tool?.failed ?? false;
  return (
    <li class="tool" id={item.key}>
      <details>
        <summary>
          <Icon name="tool" size={14} />
          <strong>{item.name}</strong>
          <code>{toolSummary(item.call)}</code>
          <span class="spacer" />
          {hasFailed && <span class="tone-failed">✕ failed</span>}
          {item.call && !item.result && <span class="dim">no result yet</span>}
          {took !== null && <span class="dim">{duration(took)}</span>}
        </summary>
        {item.call && <ToolText title="Call" text={item.call.text} />}
        {item.result && <ToolText title="Result" text={item.result.text} />}
      </details>
    </li>
  );
}

function ToolText({ title, text }: { title: string; text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > SHOWN_CHARS;
  return (
    <div class="code-block">
      <div class="code-head">
        <span>{title}</span>
        <CopyButton text={text} label={`Copy the ${title.toLowerCase()}`} words="Copy" />
      </div>
      <pre tabIndex={0} aria-label={title}>
        {isLong && !isWhole ? text.slice(0, SHOWN_CHARS) : text}
      </pre>
      {isLong && !isWhole && (
        <button class="button quiet small" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </div>
  );
}
