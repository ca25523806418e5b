// A choice among the agents of the project file around a folder, and other names.

import { useEffect, useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { AgentKinds } from "../api/types.ts";
import { useResource } from "../state/resource.ts";
import { Choice, TextField } from "./field.tsx";

const OTHER = "…";
const LABEL = "Agent";

const NO_AGENTS: AgentKinds = { project: null, agents: [] };

/** Reads the agents of a folder. A folder that is not written to its end yet has none. */
async function agentsOf(folder: string): Promise<AgentKinds> {
  return folder ? calls.agentKinds(folder).catch(() => NO_AGENTS) : NO_AGENTS;
}

export function AgentField(props: {
  folder: string;
  value: string;
  onValue: (value: string) => void;
}) {
  const { folder, value, onValue } = props;
  const kinds = useResource(`agents ${folder}`, () => agentsOf(folder));
  const [isOther, setOther] = useState(false);
  const names = (kinds.data?.agents ?? []).map((it) => it.name);
  useEffect(() => {
    const first = names[0];
    if (first && !isOther && !names.includes(value)) onValue(first);
  }, [kinds.data]);
  if (names.length === 0) {
    const help = kinds.data ? "This folder has no project file with agents." : "";
    return <TextField label={LABEL} help={help} value={value} onValue={onValue} isRequired />;
  }
  const options: (readonly [string, string])[] = [
    ...(kinds.data?.agents ?? []).map((it) => [it.name, `${it.name}: ${it.vendor}`] as const),
    [OTHER, "another one…"],
  ];
  const choose = (chosen: string) => {
    setOther(chosen === OTHER);
    onValue(chosen === OTHER ? "" : chosen);
  };
  const chosen = isOther ? OTHER : value;
  return (
    <div>
      <Choice label={LABEL} value={chosen} options={options} onValue={choose} />
      {isOther && (
        <TextField label="Name of the agent" value={value} onValue={onValue} isRequired />
      )}
    </div>
  );
}
