import { useState } from "preact/hooks";

import * as calls from "../../api/calls.ts";
import type { Scope, Token } from "../../api/types.ts";
import { Check, Choice, TextField } from "../../parts/field.tsx";
import { Ago } from "../../parts/since.tsx";
import { Command, Loaded } from "../../parts/states.tsx";
import { attempt } from "../../parts/toast.tsx";
import { useResource } from "../../state/resource.ts";

const SCOPES: readonly (readonly [Scope, string])[] = [
  ["read", "read: lists, conversations, events"],
  ["send", "send: messages and answers"],
  ["work", "work: start, resume, stop and hand over agents"],
  ["admin", "admin: everything"],
];

export function Tokens() {
  const tokens = useResource("tokens", calls.tokens, ["tokens"]);
  return (
    <section class="card">
      <h2>Tokens</h2>
      <Loaded of={tokens}>
        {(data) => (
          <>
            <TokenRows
              tokens={data.filter((it) => it.kind === "program")}
              none="No program has a token."
              action="Revoke"
            />
            <h3>Browsers that are logged in</h3>
            <TokenRows
              tokens={data.filter((it) => it.kind === "browser")}
              none="No browser is logged in."
              action="Log out"
            />
          </>
        )}
      </Loaded>
      <NewToken />
    </section>
  );
}

function TokenRows(props: { tokens: Token[]; none: string; action: string }) {
  const revoke = (name: string) =>
    attempt(() => calls.revokeToken(name), `The token ${name} is revoked`);
  if (props.tokens.length === 0) return <p class="dim">{props.none}</p>;
  return (
    <ul class="rows">
      {props.tokens.map((token) => (
        <li key={token.id} class="row">
          <strong>{token.name}</strong>
          <span class="row-text dim">{token.scopes.join(", ")}</span>
          <span class="dim">
            {token.last_used_at ? (
              <>
                used <Ago at={token.last_used_at} />
              </>
            ) : (
              "never used"
            )}
          </span>
          <button
            class="button small"
            aria-label={`${props.action} ${token.name}`}
            onClick={() => void revoke(token.name)}
          >
            {props.action}
          </button>
        </li>
      ))}
    </ul>
  );
}

type Lifetime = "30" | "90" | "365" | "never";

function NewToken() {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<Scope[]>(["read"]);
  const [lifetime, setLifetime] = useState<Lifetime>("90");
  const [created, setCreated] = useState("");
  const toggle = (scope: Scope, isOn: boolean) =>
    setScopes((old) => (isOn ? [...old, scope] : old.filter((it) => it !== scope)));
  const create = async () => {
    const expires =
      lifetime === "never"
        ? null
        : new Date(Date.now() + Number(lifetime) * 86_400_000).toISOString();
    await attempt(async () => {
      setCreated((await calls.createToken(name, scopes, expires)).token);
      setName("");
    });
  };
  return (
    <details class="new-token">
      <summary>New token</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <TextField label="Name" value={name} onValue={setName} isRequired />
        <fieldset>
          <legend>Scopes</legend>
          {SCOPES.map(([scope, words]) => (
            <Check
              key={scope}
              label={words}
              isOn={scopes.includes(scope)}
              onValue={(isOn) => toggle(scope, isOn)}
            />
          ))}
        </fieldset>
        <Choice<Lifetime>
          label="Valid for"
          value={lifetime}
          options={[
            ["30", "30 days"],
            ["90", "90 days"],
            ["365", "a year"],
            ["never", "ever"],
          ]}
          onValue={setLifetime}
        />
        <button class="button primary" disabled={!name.trim() || scopes.length === 0}>
          Create
        </button>
      </form>
      {created && (
        <p class="banner" role="status">
          Copy the token now; it is not shown again. <Command text={created} />
        </p>
      )}
    </details>
  );
}
