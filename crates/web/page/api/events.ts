// The stream of events of the daemon.

import { EventStreamParser } from "../model/event-stream.ts";
import { request } from "./http.ts";
import type { LogEvent } from "./types.ts";

export interface EventHandlers {
  opened(): void;
  event(event: LogEvent): void;
  /** The stream has ended, or could not be opened. */
  closed(): void;
}

/** Follows the events after a cursor. Returns a function that stops it. */
export function followEvents(after: number, handlers: EventHandlers): () => void {
  const abort = new AbortController();
  const read = async () => {
    try {
      await readEvents(after, abort.signal, handlers);
    } catch {
      // The stream ends in the same way, whatever the reason.
    }
    if (!abort.signal.aborted) handlers.closed();
  };
  void read();
  return () => abort.abort();
}

async function readEvents(
  after: number,
  signal: AbortSignal,
  handlers: EventHandlers,
): Promise<void> {
  const response = await request(`/v1/events/stream?after=${after}`, { signal });
  if (!response.body) return;
  handlers.opened();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new EventStreamParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) return;
    for (const data of parser.add(value)) handlers.event(JSON.parse(data) as LogEvent);
  }
}
