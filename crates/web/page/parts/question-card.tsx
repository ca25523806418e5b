// A question of an agent, with a button for each answer.

import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { Attention, Question, Session } from "../api/types.ts";
import { shortPath } from "../model/format.ts";
import { sessionPath } from "../model/routes.ts";
import { isResumable, statusDetail } from "../model/status.ts";
import { useMay } from "../state/identity.ts";
import { openSheet } from "../state/sheets.ts";
import { Icon } from "./icon.tsx";
import { Ago, ClockTime } from "./since.tsx";
import { Command } from "./states.tsx";
import { StatusMark } from "./status.tsx";
import { attempt } from "./toast.tsx";

const KIND_WORDS: Record<string, string> = {
  permission: "asks for permission",
  trust: "asks whether to trust the folder",
  question: "asks a question",
};

/** Answers a question by the number of a choice. Refused if the agent asks another one by now. */
export async function giveAnswer(
  session: Session,
  question: Question,
  index: number,
): Promise<boolean> {
  const words = question.choices[index] ?? String(index + 1);
  const send = () => calls.answer(session.id, String(index + 1), question.id);
  return attempt(send, `Answered ${session.name}: ${words}`);
}

/** Why a session needs a person, and what helps. */
export type Need = Omit<Attention, "session">;

function ownNeed(session: Session): Need {
  const { updated_at: since } = session;
  const text = statusDetail(session);
  return { reason: session.status, text, since, advice: null, command: "" };
}

export function QuestionCard(props: {
  session: Session;
  /** Why the session needs a person, if it asks no question. */
  need?: Need;
  /** Whether the card is on the page of its session. */
  isInside?: boolean;
}) {
  const { session, isInside } = props;
  const { dialog } = session;
  const [isAnswered, setAnswered] = useState("");
  const isGone = dialog !== null && isAnswered === dialog.id;
  const labels = `question-${session.id}`;
  return (
    <article
      class={`card question${isGone ? " is-answered" : ""}`}
      aria-labelledby={labels}
      data-session={session.id}
    >
      <header>
        <h2 id={labels}>
          <span class="symbol tone-waiting" aria-hidden="true">
            ▲
          </span>
          {isInside ? "" : <a href={sessionPath(session.id)}>{session.address}</a>}{" "}
          <span class="what">
            {dialog ? (KIND_WORDS[dialog.kind] ?? "needs you") : "needs you"}
          </span>
        </h2>
        <span class="dim">
          <Ago at={props.need?.since ?? session.updated_at} />
        </span>
      </header>
      {dialog ? (
        <>
          <pre class="asked" tabIndex={0} aria-label="What is asked">
            {dialog.question}
          </pre>
          <Answers
            session={session}
            question={dialog}
            isDisabled={isGone}
            isInside={isInside ?? false}
            onAnswered={() => setAnswered(dialog.id)}
          />
        </>
      ) : (
        <OtherNeed session={session} need={props.need ?? ownNeed(session)} />
      )}
      <footer>
        <span>{session.vendor}</span>
        {session.branch && (
          <span>
            <Icon name="branch" size={14} /> <code>{session.branch}</code>
          </span>
        )}
        <code title={session.cwd}>{shortPath(session.cwd)}</code>
        <span class="spacer" />
        {!isInside && (
          <a class="button quiet small" href={sessionPath(session.id)}>
            <Icon name="terminal" size={14} /> Open terminal
          </a>
        )}
      </footer>
    </article>
  );
}

function Answers(props: {
  session: Session;
  question: Question;
  isDisabled: boolean;
  isInside: boolean;
  onAnswered: () => void;
}) {
  const { session, question } = props;
  const [isSending, setSending] = useState(false);
  const maySend = useMay("send");
  if (!maySend) return null;
  if (question.choices.length === 0) {
    return (
      <p class="row-of-buttons">
        <a class="button primary" href={sessionPath(session.id)}>
          Answer in the terminal
        </a>
      </p>
    );
  }
  const last = question.choices.length - 1;
  const answer = async (index: number) => {
    setSending(true);
    if (await giveAnswer(session, question, index)) props.onAnswered();
    setSending(false);
  };
  return (
    <div class="answers" role="group" aria-label={`Answers for ${session.name}`}>
      {question.choices.map((choice, index) => (
        <button
          key={choice}
          class={index === 0 ? "button primary" : "button"}
          disabled={isSending || props.isDisabled}
          onClick={() => void answer(index)}
        >
          {/* In a session, numbers are for its tabs. */}
          {!props.isInside && <kbd>{index + 1}</kbd>}
          {props.isInside && index === 0 && <kbd>y</kbd>}
          {props.isInside && index > 0 && index === last && <kbd>d</kbd>} {choice}
        </button>
      ))}
    </div>
  );
}

/** A session that needs a person for another reason than a question, and what helps. */
function OtherNeed({ session, need }: { session: Session; need: Need }) {
  const mayWork = useMay("work");
  const { advice, command, text } = need;
  const failure = session.last_failure;
  return (
    <>
      <p class="need">
        <StatusMark status={session.status} /> {text}
      </p>
      {failure?.message && <p class="failure-message">{failure.message}</p>}
      {failure?.resets_at && (
        <p>
          The limit ends at <ClockTime at={failure.resets_at} />.
        </p>
      )}
      {advice && <p>{advice}</p>}
      <p class="row-of-buttons">
        {mayWork && isResumable(session) && (
          <button
            class="button primary"
            onClick={() => openSheet({ kind: "resume", sessions: [session] })}
          >
            <Icon name="play" size={16} /> Resume
          </button>
        )}
        {mayWork && need.reason === "usage_limit" && (
          <button class="button" onClick={() => openSheet({ kind: "handoff", session })}>
            <Icon name="swap" size={16} /> Hand over
          </button>
        )}
        {need.reason === "lost" && (
          <a class="button" href={sessionPath(session.id, "log")}>
            Read the log
          </a>
        )}
      </p>
      {command && (
        <p>
          On the command line: <Command text={command} />
        </p>
      )}
    </>
  );
}
