// Notifications of the browser, and the number of questions in its title and its icon.

import { pageKey } from "../api/page-key.ts";
import type { Attention, Gate } from "../api/types.ts";
import { gateKey } from "../parts/gate-card.tsx";
import { planPath, sessionPath } from "../model/routes.ts";
import { fleet } from "./fleet.ts";
import { go } from "./navigation.ts";
import { preferences } from "./preferences.ts";

/** The needs that were there when the list was loaded last. `null` before the first load. */
let known: Set<string> | null = null;
let shownCount: number | null = null;

export function startNotices(): void {
  if ("serviceWorker" in navigator) {
    navigator.serviceWorker.addEventListener("message", ({ data }) => {
      const { kind, path } = data as OpenPlaceMessage;
      if (kind === "open-place") go(path);
    });
  }
  fleet.watch(({ attention, gates, isLoaded }) => {
    if (!isLoaded) return;
    showCount(attention.length + gates.length);
    const before = known;
    known = new Set([...attention.map(noticeKey), ...gates.map(gateKey)]);
    // Questions from before the page was opened are on the page, and no news.
    const isNew = (key: string) => before !== null && !before.has(key);
    const news = [
      ...attention.filter((it) => isNew(noticeKey(it))).map(sessionNotice),
      ...gates.filter((it) => isNew(gateKey(it))).map(gateNotice),
    ];
    const tags = [...attention.map((it) => it.session.id), ...gates.map(gateKey)];
    void closeOthers(new Set(tags)).then(() => Promise.all(news.map(notifyAbout)));
  });
}

function noticeKey({ session, reason }: Attention): string {
  return `${session.id} ${session.dialog?.id ?? reason}`;
}

function showCount(count: number): void {
  if (count === shownCount) return;
  shownCount = count;
  document.title = count > 0 ? `(${count}) Segue` : "Segue";
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (icon) icon.href = count > 0 ? "/assets/icon-alert.svg" : "/icon.svg";
  const badge = navigator as Navigator & {
    setAppBadge?: (count: number) => Promise<void>;
    clearAppBadge?: () => Promise<void>;
  };
  const shown = count > 0 ? badge.setAppBadge?.(count) : badge.clearAppBadge?.();
  shown?.catch(() => {});
}

const canNotify = () => "Notification" in window && "serviceWorker" in navigator;

/** Closes the notifications of sessions and gates that do not need a person any more. */
async function closeOthers(needing: Set<string>): Promise<void> {
  if (!canNotify() || Notification.permission !== "granted") return;
  const registration = await navigator.serviceWorker.ready;
  for (const notification of await registration.getNotifications()) {
    if (!needing.has(notification.tag)) notification.close();
  }
}

/** What the service worker sends to the page after a click on a notification. */
export interface OpenPlaceMessage {
  kind: "open-place";
  path: string;
}

/** The data that the service worker needs to open a place, and to answer a question. */
export interface NoticeData {
  path: string;
  /** The session that asks. */
  session: string | null;
  question: string | null;
  /** A service worker has no access to the storage in which the page keeps it. */
  pageKey: string | null;
}

interface Notice {
  title: string;
  body: string;
  tag: string;
  data: NoticeData;
  choices: string[];
}

function sessionNotice({ session, text }: Attention): Notice {
  const { id, dialog } = session;
  const question = dialog?.id ?? null;
  return {
    title: `${session.address} needs you`,
    body: dialog?.question ?? text,
    tag: id,
    data: { path: sessionPath(id), session: id, question, pageKey: pageKey() },
    choices: dialog?.choices ?? [],
  };
}

function gateNotice(gate: Gate): Notice {
  return {
    title: `The plan ${gate.plan_name} needs you`,
    body: `${gate.task}: the approval ${gate.text}`,
    tag: gateKey(gate),
    data: { path: planPath(gate.plan), session: null, question: null, pageKey: null },
    choices: [],
  };
}

async function notifyAbout({ title, body, tag, data, choices }: Notice): Promise<void> {
  if (!canNotify() || !preferences.get().notifies) return;
  const isSeen = document.visibilityState === "visible" && document.hasFocus();
  if (isSeen || Notification.permission !== "granted") return;
  const registration = await navigator.serviceWorker.ready;
  // Browsers show two actions at most.
  const actions = choices.slice(0, 2).map((it, index) => ({ action: `${index + 1}`, title: it }));
  const options: NotificationOptions & { actions: { action: string; title: string }[] } = {
    body,
    tag,
    icon: "/icon.svg",
    data,
    actions,
  };
  await registration.showNotification(title, options);
}
