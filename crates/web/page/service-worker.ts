// The service worker: keeps the files of the page, so that it opens while the daemon is away, and
// handles notifications. It never keeps an answer of the API.

import { pageHeaders } from "./api/page-key.ts";
import type { NoticeData, OpenPlaceMessage } from "./state/notices.ts";

// `build.mjs` puts the names of the files in.
declare const SHELL_FILES: string[];
declare const SHELL_NAME: string;

const worker = self as unknown as ServiceWorkerGlobalScope;

worker.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(SHELL_NAME)
      .then((cache) => cache.addAll(SHELL_FILES))
      .then(() => worker.skipWaiting()),
  );
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => names.filter((name) => name !== SHELL_NAME))
      .then((old) => Promise.all(old.map((name) => caches.delete(name))))
      .then(() => worker.clients.claim()),
  );
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== worker.location.origin) return;
  if (request.mode === "navigate") event.respondWith(document(request));
  else if (SHELL_FILES.includes(url.pathname)) event.respondWith(file(request));
});

/** The newest document, or the stored one while the daemon is away. */
async function document(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const stored = await caches.match("/");
    if (stored) return stored;
    throw error;
  }
}

async function file(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request);
}

worker.addEventListener("notificationclick", (event) => {
  const { notification, action } = event;
  notification.close();
  const data = notification.data as NoticeData;
  const isAnswer = action !== "" && data.question !== null;
  event.waitUntil(isAnswer ? answer(data, action) : open(data.path));
});

async function answer(data: NoticeData, choice: string): Promise<void> {
  try {
    const response = await fetch("/v1/answer", {
      method: "POST",
      headers: { "content-type": "application/json", ...pageHeaders(data.pageKey) },
      body: JSON.stringify({
        cwd: "/",
        session: data.session,
        answer: choice,
        question: data.question,
      }),
    });
    if (!response.ok) await open(data.path);
  } catch {
    await open(data.path);
  }
}

/** Shows a place of the page in a window that is open, or in a new one. */
async function open(path: string): Promise<void> {
  const windows = await worker.clients.matchAll({ type: "window" });
  const [window] = windows;
  if (!window) {
    await worker.clients.openWindow(path);
    return;
  }
  const message: OpenPlaceMessage = { kind: "open-place", path };
  window.postMessage(message);
  // Browsers refuse it if the click was long ago.
  await window.focus().catch(() => {});
}
