// Logs in with the code of a one-time link, or explains how to get such a link.

import { useEffect, useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import { ApiError, messageOf } from "../api/http.ts";
import { sentence } from "../model/format.ts";
import { sessionPath } from "../model/routes.ts";
import { Command, Skeleton } from "../parts/states.tsx";
import { loadIdentity } from "../state/identity.ts";
import { startLive } from "../state/live.ts";
import { go } from "../state/navigation.ts";

/** Takes the code out of the address bar, so that neither the history nor a screenshot has it. */
function takeCode(): string {
  const code = location.hash.slice(1);
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}

const REFUSED = "refused";

function refusal(isShare: boolean): string {
  return isShare
    ? "This link is wrong, expired or revoked. Ask for a new one."
    : "This link is wrong or was used already. A link works once, within a minute.";
}

export function LoginView() {
  const [code] = useState(takeCode);
  const [problem, setProblem] = useState("");
  const enter = async () => {
    try {
      await calls.login(code);
      const known = await loadIdentity();
      await startLive();
      const shared = known.kind === "known" ? known.identity.session : null;
      go(shared ? sessionPath(shared) : "/", { replace: true });
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status === 401;
      setProblem(isRefused ? REFUSED : messageOf(error));
    }
  };
  useEffect(() => {
    if (code) void enter();
  }, []);
  if (code && !problem) return <Skeleton lines={3} label="Logging in" />;
  return <Welcome problem={problem} wasShared={false} />;
}

export function Welcome({ problem, wasShared }: { problem: string; wasShared: boolean }) {
  const isShare = location.pathname === "/share" || wasShared;
  return (
    <main class="welcome">
      <img src="/icon.svg" alt="" width={56} height={56} />
      <h1>Segue</h1>
      {problem && (
        <p class="failure" role="alert">
          <span class="symbol tone-failed" aria-hidden="true">
            ✕
          </span>{" "}
          {problem === REFUSED || wasShared ? refusal(isShare) : sentence(problem)}
        </p>
      )}
      {!isShare && (
        <>
          <p>To open this page, run this on the machine of your agents:</p>
          <Command text="segue web" />
          <p class="dim">It prints a link that logs this browser in.</p>
        </>
      )}
    </main>
  );
}
