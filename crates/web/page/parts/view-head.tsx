import type { ComponentChildren } from "preact";

export function ViewHead({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <header class="view-head">
      <h1>{title}</h1>
      {children}
    </header>
  );
}
