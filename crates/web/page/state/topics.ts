// Tells the views that watch a topic that an event was about it.

import type { Topic } from "../model/topics.ts";

const watchers = new Map<Topic, Set<() => void>>();
let pending = new Set<Topic>();

export function watchTopic(topic: Topic, watcher: () => void): () => void {
  const all = watchers.get(topic) ?? new Set();
  watchers.set(topic, all.add(watcher));
  return () => {
    all.delete(watcher);
    if (all.size === 0) watchers.delete(topic);
  };
}

/** Reports changes. Events that arrive together cause one load of each topic. */
export function announce(topics: Topic[]): void {
  if (pending.size === 0 && topics.length > 0) setTimeout(flush, 30);
  for (const topic of topics) pending.add(topic);
}

function flush(): void {
  const topics = pending;
  pending = new Set();
  const due = new Set<() => void>();
  for (const topic of topics) {
    for (const watcher of watchers.get(topic) ?? []) due.add(watcher);
  }
  for (const watcher of due) watcher();
}
