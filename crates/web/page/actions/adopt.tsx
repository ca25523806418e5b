import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { AdoptCandidate } from "../api/types.ts";
import { shortPath } from "../model/format.ts";
import { sessionPath } from "../model/routes.ts";
import { Sheet } from "../parts/sheet.tsx";
import { Ago } from "../parts/since.tsx";
import { Loaded } from "../parts/states.tsx";
import { attempt } from "../parts/toast.tsx";
import { refreshSession } from "../state/fleet.ts";
import { go } from "../state/navigation.ts";
import { useResource } from "../state/resource.ts";
import { closeSheet } from "../state/sheets.ts";

const SHOWN = 50;

/** The field appears after the dialog, when the list is there. */
function focus(field: HTMLInputElement | null): void {
  field?.focus();
}

/** Lists conversations that were begun without Segue, and makes a session of one of them. */
export function AdoptSheet() {
  const found = useResource("adopt", calls.adoptable);
  const [filter, setFilter] = useState("");
  const [taking, setTaking] = useState("");
  const take = async (candidate: AdoptCandidate) => {
    setTaking(candidate.vendor_session_id);
    await attempt(async () => {
      const { adopted, skipped } = await calls.adopt(candidate);
      const [session] = adopted;
      if (!session) throw new Error(skipped[0]?.why ?? "the conversation was not taken in");
      closeSheet();
      await refreshSession(session.id);
      go(sessionPath(session.id, "talk"));
    });
    setTaking("");
  };
  const matches = (it: AdoptCandidate) =>
    `${it.vendor} ${it.cwd} ${it.begins}`.toLowerCase().includes(filter.toLowerCase());
  return (
    <Sheet title="Take in a conversation" isWide>
      <p>
        Conversations that were begun on this machine without Segue. A conversation that is taken in
        becomes a session: it is kept safe and can be resumed, handed over and shared. No agent
        starts, and the conversation stays where it is.
      </p>
      <Loaded of={found} lines={5}>
        {({ candidates }) => {
          const shown = candidates.filter(matches);
          if (candidates.length === 0) {
            return <p class="dim">There is no conversation that Segue does not have already.</p>;
          }
          return (
            <>
              <input
                type="search"
                class="filter"
                placeholder="Filter"
                aria-label="Filter the conversations"
                ref={focus}
                value={filter}
                onInput={(event) => setFilter(event.currentTarget.value)}
              />
              <ul class="rows">
                {shown.slice(0, SHOWN).map((it) => (
                  <CandidateRow
                    key={`${it.vendor} ${it.vendor_session_id}`}
                    candidate={it}
                    isBusy={taking !== ""}
                    onTake={() => void take(it)}
                  />
                ))}
              </ul>
              {shown.length > SHOWN && (
                <p class="dim">{shown.length - SHOWN} more: filter by vendor, folder or words.</p>
              )}
            </>
          );
        }}
      </Loaded>
    </Sheet>
  );
}

function CandidateRow(props: {
  candidate: AdoptCandidate;
  isBusy: boolean;
  onTake: () => void;
}) {
  const { candidate } = props;
  const words = candidate.begins ?? "no message yet";
  return (
    <li class="row wrap">
      <strong>{candidate.vendor}</strong>
      <span class="row-text">{words}</span>
      <button
        class="button small"
        disabled={props.isBusy}
        aria-label={`Take in: ${words}`}
        onClick={props.onTake}
      >
        Take in
      </button>
      <span class="row-note dim">
        <code title={candidate.cwd}>{shortPath(candidate.cwd)}</code> ·{" "}
        <Ago at={candidate.updated_at} />
        {candidate.open_in && ` · open in process ${candidate.open_in}`}
      </span>
    </li>
  );
}
