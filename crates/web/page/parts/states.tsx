// What a view shows while it has no data: loading, nothing there, or a failure.

import type { ComponentChildren } from "preact";

import type { ApiError } from "../api/http.ts";
import type { Resource } from "../state/resource.ts";
import { CopyButton } from "./copy.tsx";
import { Icon, type IconName } from "./icon.tsx";

export function Skeleton({ lines = 3, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">{label}</span>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="bar" />
      ))}
    </div>
  );
}

export function Empty(props: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-picture">
        <Icon name={props.icon} size={32} />
      </span>
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

export function Failure({ error, retry }: { error: ApiError; retry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>
        <span class="symbol tone-failed" aria-hidden="true">
          ✕
        </span>{" "}
        {error.message}
      </p>
      <Hints hints={error.hints} />
      {retry && (
        <button class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Hints({ hints }: { hints: string[] }) {
  if (hints.length === 0) return null;
  return (
    <ul class="hints">
      {hints.map((hint) => (
        <li key={hint}>{hint}</li>
      ))}
    </ul>
  );
}

/** A command to paste into a shell. */
export function Command({ text }: { text: string }) {
  return (
    <span class="command">
      <code>{text}</code>
      <CopyButton text={text} label="Copy the command" />
    </span>
  );
}

/** Shows the data of a resource, or what it has instead of data. */
export function Loaded<T>(props: {
  of: Resource<T>;
  lines?: number;
  children: (data: T) => ComponentChildren;
}) {
  const { data, error, reload } = props.of;
  if (data === null) {
    if (error) return <Failure error={error} retry={reload} />;
    return <Skeleton lines={props.lines ?? 4} />;
  }
  return (
    <>
      {error && !error.isOffline && <Failure error={error} retry={reload} />}
      {props.children(data)}
    </>
  );
}
