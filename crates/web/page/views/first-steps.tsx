import { Command, Empty } from "../parts/states.tsx";
import { useMay } from "../state/identity.ts";
import { openSheet } from "../state/sheets.ts";

/** What a person can do who has no sessions yet. */
export function FirstSteps() {
  const mayWork = useMay("work");
  const mayAdopt = useMay("admin");
  return (
    <Empty icon="terminal" title="No sessions yet">
      <p>Start an agent, or bring in conversations that you had without Segue.</p>
      {mayWork && (
        <p class="row-of-buttons">
          <button class="button primary" onClick={() => openSheet({ kind: "new-session" })}>
            Start an agent
          </button>
          {mayAdopt && (
            <button class="button" onClick={() => openSheet({ kind: "adopt" })}>
              Take in a conversation
            </button>
          )}
        </p>
      )}
      <ul class="plain">
        <li>
          Try the built-in agent, which needs no account:{" "}
          <Command text={'segue run -d --vendor demo --name fox "remember the word amber"'} />
        </li>
        <li>
          Describe the agents of a project: <Command text="segue init && segue up" />
        </li>
      </ul>
    </Empty>
  );
}
