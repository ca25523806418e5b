// A small picture of an agent's screen, as text. It is loaded when it is visible, and again after
// an event of the session.

import { useEffect, useRef, useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { Screen, Session } from "../api/types.ts";
import { isLive } from "../model/status.ts";
import { watchTopic } from "../state/topics.ts";

// The last lines are the ones that changed last.
const SHOWN_LINES = 14;

export function Thumbnail({ session }: { session: Session }) {
  const element = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<Screen | null>(null);
  const [isMissing, setMissing] = useState(false);
  const hasScreen = isLive(session);

  useEffect(() => {
    if (!hasScreen) return setMissing(true);
    let isVisible = false;
    let isStale = true;
    let aborter: AbortController | null = null;
    const load = async () => {
      if (!isVisible || !isStale) return;
      isStale = false;
      aborter?.abort();
      aborter = new AbortController();
      try {
        setScreen(await calls.screen(session.id, aborter.signal));
        setMissing(false);
      } catch (error) {
        if (!(error instanceof DOMException)) setMissing(true);
      }
    };
    const observer = new IntersectionObserver(([entry]) => {
      isVisible = entry?.isIntersecting ?? false;
      void load();
    });
    if (element.current) observer.observe(element.current);
    const stop = watchTopic(`session:${session.id}`, () => {
      isStale = true;
      void load();
    });
    return () => {
      observer.disconnect();
      stop();
      aborter?.abort();
    };
  }, [session.id, hasScreen]);

  const lines = screen ? lastLines(screen.lines) : [];
  const isEmpty = isMissing || (screen !== null && lines.length === 0);
  return (
    <div
      ref={element}
      class="thumbnail"
      aria-hidden="true"
      style={{ "--columns": shownColumns(lines) }}
    >
      {isEmpty ? <span class="thumbnail-note">no screen</span> : <pre>{lines.join("\n")}</pre>}
    </div>
  );
}

/** Returns how many columns the picture shows: those that are used, within limits. */
function shownColumns(lines: string[]): number {
  const used = Math.max(0, ...lines.map((line) => line.length));
  return Math.min(Math.max(used, 48), 110);
}

function lastLines(lines: string[]): string[] {
  let end = lines.length;
  while (end > 0 && (lines[end - 1] ?? "").trim() === "") end--;
  return lines.slice(Math.max(0, end - SHOWN_LINES), end);
}
