// The terminal of a session: watching at first, and typing after "Take control".

import { useEffect, useRef, useState } from "preact/hooks";

import type { Session } from "../../api/types.ts";
import { plural } from "../../model/format.ts";
import { isLive } from "../../model/status.ts";
import { Icon } from "../../parts/icon.tsx";
import { Skeleton } from "../../parts/states.tsx";
import { notify } from "../../parts/toast.tsx";
import { useMay } from "../../state/identity.ts";
import { openSheet } from "../../state/sheets.ts";
import {
  type Stream,
  type StreamState,
  openStream,
} from "../../terminal/stream.ts";
import { NoTerminal } from "./no-terminal.tsx";

export function TerminalTab({ session }: { session: Session }) {
  if (session.headless) {
    return <NoTerminal session={session} why="This session runs without a terminal." />;
  }
  if (!isLive(session)) {
    return <NoTerminal session={session} why="The agent does not run, so it has no terminal." />;
  }
  // A new launch has a terminal of its own.
  return <LiveTerminal key={`${session.id} ${session.launches}`} session={session} />;
}

function LiveTerminal({ session }: { session: Session }) {
  const host = useRef<HTMLDivElement>(null);
  const stream = useRef<Stream | null>(null);
  const [state, setState] = useState<StreamState | null>(null);
  const [isSearching, setSearching] = useState(false);
  const mayControl = useMay("send");

  useEffect(() => {
    let isGone = false;
    const opening = openStream(session.id, host.current as HTMLElement, setState);
    void opening.then((opened) => {
      if (isGone) opened.close();
      else stream.current = opened;
    });
    return () => {
      isGone = true;
      stream.current?.close();
      stream.current = null;
    };
  }, []);

  const copy = async () => {
    await navigator.clipboard.writeText(stream.current?.text() ?? "");
    notify("The terminal's text is copied");
  };

  return (
    <section class="terminal-view" aria-label="Terminal">
      <div class="terminal-bar">
        <Watchers state={state} />
        <span class="spacer" />
        {state?.latency != null && (
          <span class="dim small-text" title="Time to the terminal and back">
            {Math.max(1, Math.round(state.latency))} ms
          </span>
        )}
        <button class="button quiet small" onClick={() => setSearching(!isSearching)}>
          <Icon name="search" size={14} /> Search
        </button>
        <button class="button quiet small" onClick={() => void copy()}>
          <Icon name="copy" size={14} /> Copy
        </button>
        {state?.isControlling && (
          <button class="button quiet small" onClick={() => stream.current?.fitToWindow()}>
            <Icon name="expand" size={14} /> Fit to window
          </button>
        )}
        {mayControl &&
          (state?.isControlling ? (
            <button class="button small" onClick={() => stream.current?.setAccess("view")}>
              <Icon name="eye" size={14} /> Release control
            </button>
          ) : (
            <button
              class="button primary small"
              data-command="take-control"
              disabled={!state?.isConnected}
              onClick={() => stream.current?.setAccess("control")}
            >
              <Icon name="keyboard" size={14} /> Take control
            </button>
          ))}
      </div>
      {isSearching && (
        <SearchBar
          onFind={(text, isBackwards) => stream.current?.find(text, isBackwards)}
          onClose={() => setSearching(false)}
        />
      )}
      {state?.ended != null && (
        <p class="banner" role="status">
          The agent has ended ({state.ended}).{" "}
          <button class="button small" onClick={() => openSheet({ kind: "resume", sessions: [session] })}>
            Resume
          </button>
        </p>
      )}
      {!state?.hasPainted && <Skeleton lines={6} label="Connecting to the terminal" />}
      <div
        ref={host}
        class={`terminal-host${state?.isControlling ? " is-controlling" : ""}`}
        data-terminal
        data-state={state?.isControlling ? "control" : "view"}
        data-connected={state?.isConnected ? "yes" : "no"}
      />
      {state?.canLoadOlder && (
        <button class="button quiet small older" onClick={() => stream.current?.loadOlder()}>
          Load older lines
        </button>
      )}
    </section>
  );
}

function Watchers({ state }: { state: StreamState | null }) {
  if (!state || !state.isConnected) {
    return <span class="pill tone-starting">{state ? "reconnecting" : "connecting"}</span>;
  }
  const { controllers, viewers, isControlling } = state;
  const others = isControlling ? controllers - 1 : controllers;
  return (
    <>
      <span
        class={isControlling ? "pill is-accent" : "pill"}
        title={isControlling ? "Ctrl-\\ releases control" : ""}
        data-role="access"
      >
        <Icon name={isControlling ? "keyboard" : "eye"} size={14} />
        {isControlling ? "you have control" : "watching"}
      </span>
      <span class="dim small-text" data-role="others">
        {others > 0 && `${plural(others, "other")} in control · `}
        {plural(viewers, "viewer")}
      </span>
    </>
  );
}

function SearchBar(props: {
  onFind: (text: string, isBackwards: boolean) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") props.onFind(text, !event.shiftKey);
    if (event.key === "Escape") props.onClose();
  };
  return (
    <div class="terminal-bar" role="search">
      <input
        type="search"
        aria-label="Search in the terminal"
        placeholder="Search in the terminal"
        value={text}
        ref={(input) => input?.focus()}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <button class="button small" onClick={() => props.onFind(text, true)}>
        Previous
      </button>
      <button class="button small" onClick={() => props.onFind(text, false)}>
        Next
      </button>
    </div>
  );
}
