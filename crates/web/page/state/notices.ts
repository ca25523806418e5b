// Notifications of the browser, and the number of questions in its title and its icon.

import { pageKey } from "../api/page-key.ts";
import type { Attention } from "../api/types.ts";
import { fleet } from "./fleet.ts";
import { preferences } from "./preferences.ts";

let known: Set<string> | null = null;

export function startNotices(): void {
  fleet.watch(({ attention, isLoaded }) => {
    if (!isLoaded) return;
    showCount(attention.length);
    const now = new Set(attention.map(noticeKey));
    // Questions from before the page was opened are on the page, and no news.
    if (known) attention.filter((it) => !known?.has(noticeKey(it))).forEach(notifyAbout);
    known = now;
  });
}

function noticeKey({ session, since }: Attention): string {
  return `${session.id} ${session.dialog?.id ?? since}`;
}

function showCount(count: number): void {
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

/** The data that the service worker needs to answer a question. */
export interface NoticeData {
  session: string;
  question: string | null;
  /** A service worker has no access to the storage in which the page keeps it. */
  pageKey: string | null;
}

async function notifyAbout({ session, text }: Attention): Promise<void> {
  const isWanted = preferences.get().notifies && Notification.permission === "granted";
  const isSeen = document.visibilityState === "visible" && document.hasFocus();
  if (!isWanted || isSeen || !("serviceWorker" in navigator)) return;
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
