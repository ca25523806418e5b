import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { Session } from "../api/types.ts";
import { Choice } from "../parts/field.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { Command } from "../parts/states.tsx";
import { attempt } from "../parts/toast.tsx";
import { closeSheet } from "../state/sheets.ts";
import { announce } from "../state/topics.ts";

type Lifetime = "3600" | "86400" | "604800";

export function ShareSheet({ session }: { session: Session }) {
  const [lifetime, setLifetime] = useState<Lifetime>("3600");
  const [url, setUrl] = useState("");
  const create = () =>
    attempt(async () => {
      const share = await calls.createShare(session.id, Number(lifetime));
      setUrl(new URL(share.url_path, location.origin).href);
      announce(["shares"]);
    });
  return (
    <Sheet title={`Share ${session.address}`}>
      <ul>
        <li>Who has the link sees this session: terminal, conversation, changes and log.</li>
        <li>The link allows no message, no answer and no other session.</li>
        <li>Settings lists the links, and revokes them.</li>
      </ul>
      {url ? (
        <>
          <p>Copy the link now; it is not shown again.</p>
          <Command text={url} />
          <p>
            <button class="button" onClick={closeSheet}>
              Done
            </button>
          </p>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void create();
          }}
        >
          <Choice<Lifetime>
            label="Valid for"
            value={lifetime}
            options={[
              ["3600", "an hour"],
              ["86400", "a day"],
              ["604800", "a week"],
            ]}
            onValue={setLifetime}
          />
          <p class="row-of-buttons">
            <button class="button primary">Create the link</button>
            <button class="button" type="button" onClick={closeSheet}>
              Cancel
            </button>
          </p>
        </form>
      )}
    </Sheet>
  );
}
