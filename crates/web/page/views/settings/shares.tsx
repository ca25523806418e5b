import * as calls from "../../api/calls.ts";
import { sessionPath } from "../../model/routes.ts";
import { Loaded } from "../../parts/states.tsx";
import { attempt } from "../../parts/toast.tsx";
import { useCell } from "../../state/cell.ts";
import { fleet } from "../../state/fleet.ts";
import { useResource } from "../../state/resource.ts";
import { announce } from "../../state/topics.ts";

/** The read-only links to single sessions. */
export function Shares() {
  const shares = useResource("shares", calls.shares, ["shares"]);
  const { byId } = useCell(fleet);
  const revoke = async (id: string) => {
    await attempt(() => calls.revokeShare(id), "The link is revoked");
    announce(["shares"]);
  };
  return (
    <section class="card">
      <h2>Shared links</h2>
      <Loaded of={shares}>
        {(data) =>
          data.length === 0 ? (
            <p class="dim">No session is shared. "Share" on a session makes a read-only link.</p>
          ) : (
            <ul class="rows">
              {data.map((share) => {
                const session = byId.get(share.session ?? "");
                const name = share.address ?? session?.address ?? "a removed session";
                return (
                  <li key={share.id} class="row">
                    {session ? <a href={sessionPath(session.id)}>{name}</a> : <span>{name}</span>}
                    <span class="row-text dim">
                      {share.expires_at &&
                        `until ${new Date(share.expires_at).toLocaleString()}`}
                    </span>
                    <button class="button small" onClick={() => void revoke(share.id)}>
                      Revoke
                    </button>
                  </li>
                );
              })}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
