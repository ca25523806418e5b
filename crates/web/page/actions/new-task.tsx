import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import { taskPath } from "../model/routes.ts";
import { AgentField } from "../parts/agent-field.tsx";
import { TextArea, TextField } from "../parts/field.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { attempt } from "../parts/toast.tsx";
import { useCell } from "../state/cell.ts";
import { fleet } from "../state/fleet.ts";
import { go } from "../state/navigation.ts";
import { closeSheet } from "../state/sheets.ts";
import { frequent } from "./new-session.tsx";

export function NewTaskSheet() {
  const { byId } = useCell(fleet);
  const agents = frequent(byId.values(), (it) => it.agent);
  const folders = frequent(byId.values(), (it) => (it.worktree ? null : it.cwd));
  const [agent, setAgent] = useState(agents[0] ?? "");
  const [cwd, setCwd] = useState(folders[0] ?? "");
  const [repo, setRepo] = useState("");
  const [branch, setBranch] = useState("");
  const [prompt, setPrompt] = useState("");
  const isReady = Boolean(agent && prompt.trim());
  const add = async () => {
    if (!isReady) return;
    await attempt(async () => {
      const task = await calls.addTask({
        agent,
        caller: { cwd: cwd || "/" },
        prompt,
        repo: repo || null,
        branch: branch || null,
      });
      closeSheet();
      go(taskPath(task.id));
    }, "The task is queued");
  };
  return (
    <Sheet title="New task">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <TextArea
          label="Work"
          value={prompt}
          onValue={setPrompt}
          onSubmit={() => void add()}
          isFocused
        />
        <div class="two">
          <TextField
            label="Project folder"
            value={cwd}
            onValue={setCwd}
            list={folders}
            isRequired
          />
          <AgentField folder={cwd} value={agent} onValue={setAgent} />
        </div>
        <div class="two">
          <TextField
            label="Repository"
            value={repo}
            onValue={setRepo}
            placeholder="that of the project if empty"
          />
          <TextField
            label="Branch"
            value={branch}
            onValue={setBranch}
            placeholder="as the agent's settings say"
          />
        </div>
        <p class="row-of-buttons">
          <button class="button primary" disabled={!isReady}>
            Add the task
          </button>
          <button class="button" type="button" onClick={closeSheet}>
            Cancel
          </button>
        </p>
      </form>
    </Sheet>
  );
}
