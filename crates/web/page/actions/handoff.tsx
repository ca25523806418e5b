import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { HandoffReport, HandoffRequest, Session } from "../api/types.ts";
import { count, plural } from "../model/format.ts";
import { sessionPath } from "../model/routes.ts";
import { Check, Choice, TextField } from "../parts/field.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { attempt, notify } from "../parts/toast.tsx";
import { useSelected } from "../state/cell.ts";
import { fleet } from "../state/fleet.ts";
import { go } from "../state/navigation.ts";
import { closeSheet } from "../state/sheets.ts";

type Mode = HandoffRequest["mode"];

/** Chooses who continues a conversation, shows what would be carried over, then hands it over. */
export function HandoffSheet({ session }: { session: Session }) {
  const vendors = useSelected(fleet, knownVendors).split(" ").filter(Boolean);
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
    await attempt(async () => setPreview(await calls.handoff(request(true))));
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
          <TextField
            label="To"
            help="A vendor, or an agent of the project."
            value={to}
            onValue={setTo}
            list={vendors.filter((it) => it !== session.vendor)}
            isFocused
            isRequired
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
            help="The oldest turns are left out beyond it. Empty: no limit."
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

function knownVendors({ byId }: { byId: ReadonlyMap<string, Session> }): string {
  return [...new Set([...byId.values()].map((session) => session.vendor))].sort().join(" ");
}

function Preview(props: {
  report: HandoffReport;
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
          ref={(button) => button?.focus()}
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
