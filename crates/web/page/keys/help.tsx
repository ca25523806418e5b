import { Sheet } from "../parts/sheet.tsx";
import { COMMAND_GROUPS } from "./commands.ts";

export function KeyHelp() {
  const actions = COMMAND_GROUPS.filter(({ title }) => title === "Actions");
  const others = COMMAND_GROUPS.filter(({ title }) => title !== "Actions");
  return (
    <Sheet title="Keys" isWide>
      <div class="key-help">
        <KeyColumn groups={others} />
        <KeyColumn groups={actions} />
      </div>
      <p class="dim">
        On a list, <kbd>1</kbd>…<kbd>9</kbd> chooses an answer of the selected session.{" "}
        <kbd>Enter</kbd> opens the selected item. A terminal under your control gets all keys.
      </p>
    </Sheet>
  );
}

function KeyColumn({ groups }: { groups: typeof COMMAND_GROUPS }) {
  return (
    <div>
      {groups.map(({ title, commands }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl>
            {commands
              .filter(({ key }) => key)
              .map(({ key, words }) => (
                <div key={key}>
                  <dt>
                    <kbd>{key === " " ? "Space" : key}</kbd>
                  </dt>
                  <dd>{words}</dd>
                </div>
              ))}
          </dl>
        </section>
      ))}
    </div>
  );
}
