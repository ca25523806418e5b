// Notifications of the browser, and the number of questions in its title and its icon.

import { pageKey } from "../api/page-key.ts";
import type { Attention } from "../api/types.ts";
import { sessionPath } from "../model/routes.ts";
import { fleet } from "./fleet.ts";
import { go } from "./navigation.ts";
import { preferences } from "./preferences.ts";

/** The needs that were there when the list was loaded last. `null` before the first load. */
let known: Set<string> | null = null;
let shownCount: number | null = null;

export function startNotices(): void {
  if ("serviceWorker" in navigator) {
    navigator.serviceWorker.addEventListener("message", ({ data }) => {
      const { kind, session } = data as OpenSessionMessage;
      if (kind === "open-session") go(sessionPath(session));
    });
  }
  fleet.watch(({ attention, isLoaded }) => {
    if (!isLoaded) return;
    showCount(attention.length);
    const before = known;
    known = new Set(attention.map(noticeKey));
    // Questions from before the page was opened are on the page, and no news.
    const news = attention.filter((it) => before !== null && !before.has(noticeKey(it)));
    void closeOthers(new Set(attention.map((it) => it.session.id))).then(() =>
      Promise.all(news.map(notifyAbout)),
    );
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

/** Closes the notifications of sessions that do not need a person any more. */
async function closeOthers(needing: Set<string>): Promise<void> {
  if (!canNotify() || Notification.permission !== "granted") return;
  const registration = await navigator.serviceWorker.ready;
  for (const notification of await registration.getNotifications()) {
    if (!needing.has(notification.tag)) notification.close();
  }
}

/** What the service worker sends to the page after a click on a notification. */
export interface OpenSessionMessage {
  kind: "open-session";
  session: string;
}

/** The data that the service worker needs to answer a question. */
export interface NoticeData {
  session: string;
  question: string | null;
  /** A service worker has no access to the storage in which the page keeps it. */
  pageKey: string | null;
}

async function notifyAbout({ session, text }: Attention): Promise<void> {
  if (!canNotify() || !preferences.get().notifies) return;
  const isSeen = document.visibilityState === "visible" && document.hasFocus();
  if (isSeen || Notification.permission !== "granted") return;
  const { dialog } = session;
  const registration = await navigator.serviceWorker.ready;
  const data: NoticeData = { session: session.id, question: dialog?.id ?? null, pageKey: pageKey() };
  // Browsers show two actions at most.
  const actions = (dialog?.choices ?? [])
    .slice(0, 2)
    .map((title, index) => ({ action: String(index + 1), title }));
  const options: NotificationOptions & { actions: { action: string; title: string }[] } = {
    body: dialog?.question ?? text,
    tag: session.id,
    icon: "/icon.svg",
    data,
    actions,
  };
  await registration.showNotification(`${session.address} needs you`, options);
}
