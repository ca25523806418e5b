import { render } from "preact";

import { dropFirstAnswers } from "./api/first-answers.ts";
import { pageKey } from "./api/page-key.ts";
import { App } from "./app.tsx";
import { startKeys } from "./keys/listen.ts";
import { startClock } from "./state/clock.ts";
import { identity, loadIdentity } from "./state/identity.ts";
import { newestSequence, retry, startLive, startWatchingNetwork } from "./state/live.ts";
import { currentRoute, startNavigation } from "./state/navigation.ts";
import { startNotices } from "./state/notices.ts";
import { startPreferences } from "./state/preferences.ts";
import { go } from "./state/navigation.ts";
import { sessionPath } from "./model/routes.ts";

async function start(): Promise<void> {
  startPreferences();
  startNavigation();
  startClock();
  startKeys();
  startNotices();
  startWatchingNetwork();
  const root = document.getElementById("root");
  if (root) render(<App />, root);
  // The login page asks for itself after it has logged in.
  if (currentRoute().view !== "login") await startData();
  registerWorker();
}

async function startData(): Promise<void> {
  identity.watch(goToSharedSession);
  // Both are needed before the lists, and neither needs the other.
  const newest = pageKey() === null ? undefined : newestSequence();
  const known = await loadIdentity();
  if (known.kind === "known") await startLive(newest);
  dropFirstAnswers();
  if (known.kind === "unreachable") await retry();
}

/** Registers the service worker. It loads all files of the page, so the first view comes first. */
function registerWorker(): void {
  if (!("serviceWorker" in navigator)) return;
  const register = () => navigator.serviceWorker.register("/service-worker.js").catch(() => {});
  // Safari has no idle callbacks.
  if ("requestIdleCallback" in window) requestIdleCallback(() => void register());
  else setTimeout(() => void register());
}

/** A share link shows one session and nothing else. */
function goToSharedSession(): void {
  const known = identity.get();
  const shared = known.kind === "known" ? known.identity.session : null;
  const route = currentRoute();
  const isThere = route.view === "session" && route.id === shared;
  if (shared && !isThere) go(sessionPath(shared), { replace: true });
}

void start();
