import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { HandoffReport, HandoffRequest, Session } from "../api/types.ts";
import { count, plural } from "../model/format.ts";
import { sessionPath } from "../model/routes.ts";
import { Check, Choice, TextField } from "../parts/field.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { attempt, notify } from "../parts/toast.tsx";
import { VendorField } from "../parts/vendor-field.tsx";
import { useSelected } from "../state/cell.ts";
import { fleet } from "../state/fleet.ts";
import { go } from "../state/navigation.ts";
import { closeSheet } from "../state/sheets.ts";

type Mode = HandoffRequest["mode"];

const IDLE_WORDS = "The agent of this session stops. Its conversation stays readable.";
const WORKING_WORDS = [
  "The agent of this session finishes its turn and stops. Its conversation stays readable.",
  "The agent's current turn ends now, and it stops. Its conversation stays readable.",
] as const;

/** Chooses who continues a conversation, shows what would be carried over, then hands it over. */
export function HandoffSheet({ session }: { session: Session }) {
  const agents = useSelected(fleet, (it) => agentsOf(it.byId.values(), session))
    .split(" ")
    .filter(Boolean);
  const [to, setTo] = useState("");
  const [mode, setMode] = useState<Mode>("auto");
  const [budget, setBudget] = useState("");
  const [isInterrupting, setInterrupting] = useState(false);
  const [preview, setPreview] = useState<HandoffReport | null>(null);
  const [isBusy, setBusy] = useState(false);

  const request = (isDryRun: boolean): HandoffRequest => ({
    from: session.address,
    to,
    mode,
    budget: budget ? Number(budget) : null,
    interrupt: isInterrupting,
    dry_run: isDryRun ? "turns" : "no",
  });
  const look = async () => {
    setBusy(true);
    await attempt(async () => {
      const report = await calls.handoff(request(true));
      // In the same drawing, so that the button of the preview can get the focus.
      setBusy(false);
      setPreview(report);
    });
    setBusy(false);
  };
  const carryOut = async () => {
    setBusy(true);
    await attempt(async () => {
      const report = await calls.handoff(request(false));
      notify(`${report.from} goes on as ${report.to}`);
      closeSheet();
      if (report.session) go(sessionPath(report.session));
    });
    setBusy(false);
  };
  return (
    <Sheet title={`Hand over ${session.address}`} isWide>
      {preview ? (
        <Preview
          report={preview}
          isWorking={session.status === "working"}
          isInterrupting={isInterrupting}
          isBusy={isBusy}
          onBack={() => setPreview(null)}
          onConfirm={() => void carryOut()}
        />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void look();
          }}
        >
          <VendorField
            label="Who continues it"
            value={to}
            onValue={setTo}
            others={agents.map((agent) => [agent, `${agent}: agent of ${session.fleet}`] as const)}
            preferred={(vendors) => vendors.find((it) => it !== session.vendor) ?? vendors[0]}
          />
          <Choice<Mode>
            label="Form"
            value={mode}
            options={[
              ["auto", "native if possible, else a digest"],
              ["native", "native: the vendor continues it as its own"],
              ["digest", "digest: one message that summarizes it"],
            ]}
            onValue={setMode}
          />
          <TextField
            label="Budget in characters"
            help="The oldest turns are left out beyond it. Empty: as much as the vendor takes."
            value={budget}
            onValue={(value) => setBudget(value.replace(/\D/g, ""))}
          />
          <Check
            label="Interrupt the current turn instead of waiting for its end"
            isOn={isInterrupting}
            onValue={setInterrupting}
          />
          <p class="row-of-buttons">
            <button class="button primary" disabled={isBusy || !to.trim()}>
              Show what is carried over
            </button>
            <button class="button" type="button" onClick={closeSheet}>
              Cancel
            </button>
          </p>
        </form>
      )}
    </Sheet>
  );
}

/** Returns the other agents of the session's fleet, separated by spaces. */
function agentsOf(sessions: Iterable<Session>, session: Session): string {
  const agents = [...sessions]
    .filter((it) => it.fleet === session.fleet && it.agent !== session.agent)
    .map((it) => it.agent);
  return [...new Set(agents)].filter(Boolean).sort().join(" ");
}

function focusOnce(button: HTMLButtonElement | null): void {
  button?.focus();
}

function Preview(props: {
  report: HandoffReport;
  isWorking: boolean;
  isInterrupting: boolean;
  isBusy: boolean;
  onBack: () => void;
  onConfirm: () => void;
}) {
  const { report } = props;
  const redacted = Object.entries(report.redacted ?? {}).map(([kind, count]) => `${count} ${kind}`);
  const turns = report.turns ?? [];
  return (
    <>
      <ul>
        <li>
          {report.vendor} continues it as <strong>{report.to}</strong> ({report.mode}).
        </li>
        <li>
          {plural(report.turns_carried, "turn")} with {count(report.chars)} characters are carried
          over
          {report.turns_left_out ? `, ${report.turns_left_out} are left out` : ""}.
        </li>
        <li>
          {redacted.length === 0
            ? "No secrets were found in it."
            : `Removed secrets: ${redacted.join(", ")}.`}
        </li>
        {report.note && <li>{report.note}</li>}
        <li>{props.isWorking ? WORKING_WORDS[props.isInterrupting ? 1 : 0] : IDLE_WORDS}</li>
      </ul>
      <details>
        <summary>The turns</summary>
        <ol class="carried">
          {turns.map((turn, index) => (
            <li key={index}>
              <strong>{turn.tool ?? turn.role.replace("_", " ")}</strong>{" "}
              <span class="dim">{turn.text.slice(0, 300)}</span>
            </li>
          ))}
        </ol>
      </details>
      <p class="row-of-buttons">
        <button
          class="button primary"
          disabled={props.isBusy}
          ref={focusOnce}
          onClick={props.onConfirm}
        >
          {props.isBusy ? "Handing over…" : `Hand over to ${report.vendor}`}
        </button>
        <button class="button" onClick={props.onBack}>
          Back
        </button>
      </p>
    </>
  );
}
