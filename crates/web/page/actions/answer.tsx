import { useState } from "preact/hooks";

import type { Session } from "../api/types.ts";
import { shortPath } from "../model/format.ts";
import { giveAnswer } from "../parts/question-card.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { closeSheet } from "../state/sheets.ts";

/** Shows what an answer key will answer. Enter confirms it. */
export function AnswerSheet({ session, choice }: { session: Session; choice: number | null }) {
  const { dialog } = session;
  const [chosen, setChosen] = useState(choice ?? 0);
  if (!dialog) return null;
  const confirm = async () => {
    if (await giveAnswer(session, dialog, chosen)) closeSheet();
  };
  return (
    <Sheet title={`Answer ${session.address}`}>
      <pre class="asked" tabIndex={0} aria-label="What is asked">
        {dialog.question}
      </pre>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        <fieldset class="choices">
          <legend>
            in <code>{shortPath(session.cwd)}</code>
          </legend>
          {dialog.choices.map((words, index) => (
            <label key={words} class="check-field">
              <input
                type="radio"
                name="choice"
                checked={index === chosen}
                {...(index === chosen ? { "data-focus": true } : {})}
                onChange={() => setChosen(index)}
              />
              <kbd>{index + 1}</kbd> {words}
            </label>
          ))}
        </fieldset>
        <p class="row-of-buttons">
          <button class="button primary">
            Answer: {dialog.choices[chosen]} <kbd>Enter</kbd>
          </button>
          <button class="button" type="button" onClick={closeSheet}>
            Cancel
          </button>
        </p>
      </form>
    </Sheet>
  );
}
