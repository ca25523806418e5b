import * as calls from "../../api/calls.ts";
import type { Finding, Source } from "../../api/types.ts";
import { duration } from "../../model/format.ts";
import { Choice } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loaded } from "../../parts/states.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { useCell } from "../../state/cell.ts";
import { endLogin, identity, useMay } from "../../state/identity.ts";
import { type Theme, choose, preferences } from "../../state/preferences.ts";
import { useResource } from "../../state/resource.ts";
import { Notifications } from "./notifications.tsx";
import { Shares } from "./shares.tsx";
import { Tokens } from "./tokens.tsx";

export function SettingsView() {
  const isAdmin = useMay("admin");
  return (
    <>
      <ViewHead title="Settings" />
      <div class="settings">
        <ThisBrowser />
        <Health />
        {isAdmin && <Shares />}
        {isAdmin && <Tokens />}
        <Sources />
      </div>
    </>
  );
}

function ThisBrowser() {
  const { theme } = useCell(preferences);
  const known = useCell(identity);
  const leave = async () => {
    await calls.logout();
    endLogin("");
  };
  const expires = known.kind === "known" ? known.identity.expires_at : null;
  return (
    <section class="card">
      <h2>This browser</h2>
      <Choice<Theme>
        label="Theme"
        value={theme}
        options={[
          ["system", "as the system"],
          ["light", "light"],
          ["dark", "dark"],
        ]}
        onValue={(value) => choose({ theme: value })}
      />
      <Notifications />
      {known.kind === "known" && (
        <p class="dim">
          May: {known.identity.scopes.join(", ")}
          {expires && ` · logged in until ${new Date(expires).toLocaleString()}`}
        </p>
      )}
      <button class="button" onClick={() => void leave()}>
        <Icon name="exit" size={16} /> Log out
      </button>
    </section>
  );
}

const SEVERITIES: Record<string, [string, string]> = {
  problem: ["✕", "failed"],
  warning: ["▲", "waiting"],
  note: ["·", "idle"],
};

function Health() {
  const findings = useResource("findings", calls.findings);
  return (
    <section class="card">
      <h2>Doctor</h2>
      <Loaded of={findings}>
        {(data) =>
          data.length === 0 ? (
            <p>
              <span class="tone-done">✓</span> Nothing is wrong.
            </p>
          ) : (
            <ul class="plain findings">
              {data.map((finding) => (
                <FindingRow key={finding.what} finding={finding} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <button class="button quiet small" onClick={findings.reload}>
        Look again
      </button>
    </section>
  );
}

function FindingRow({ finding }: { finding: Finding }) {
  const [symbol, tone] = SEVERITIES[finding.severity] ?? ["?", "idle"];
  return (
    <li>
      <span class={`status tone-${tone}`}>
        <span class="symbol" aria-hidden="true">
          {symbol}
        </span>
        {finding.severity}
      </span>{" "}
      {finding.what}
      {finding.cure && <p class="cure">{finding.cure}</p>}
      {finding.curable && (
        <p class="cure">
          <code>segue doctor --fix</code> repairs it.
        </p>
      )}
    </li>
  );
}

function Sources() {
  const sources = useResource("sources", calls.sources, ["sources"]);
  return (
    <section class="card">
      <h2>Sources</h2>
      <Loaded of={sources}>
        {({ sources: all, problems }) => (
          <>
            {all.length === 0 && (
              <p class="dim">
                <code>config.toml</code> has no sources. They turn issues of a forge into tasks.
              </p>
            )}
            <ul class="rows">
              {all.map((source) => (
                <SourceRow key={source.name} source={source} />
              ))}
            </ul>
            {problems.map((problem) => (
              <p key={problem} class="tone-failed">
                ✕ {problem}
              </p>
            ))}
          </>
        )}
      </Loaded>
    </section>
  );
}

function SourceRow({ source }: { source: Source }) {
  return (
    <li class="row">
      <strong>{source.name}</strong>
      <span class="row-text dim">
        {source.forge}, asked every {duration(source.interval_seconds * 1000)}
        {source.is_polled && ", without webhooks"}
      </span>
      {source.has_token ? (
        <span class="tone-done">✓ has a token</span>
      ) : (
        <span class="tone-waiting">▲ no token</span>
      )}
    </li>
  );
}
