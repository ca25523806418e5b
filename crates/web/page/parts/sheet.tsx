// A modal dialog. The browser keeps the focus inside and closes it with Escape.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

import { closeSheet } from "../state/sheets.ts";
import { Icon } from "./icon.tsx";
import { SheetErrors } from "./toast.tsx";

export function Sheet(props: {
  title: string;
  children: ComponentChildren;
  isWide?: boolean;
  isBare?: boolean;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const title = useId();
  // Before the next key: a key that is typed quickly must not reach the page behind the dialog.
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    const wanted = dialog?.querySelector<HTMLElement>("[data-focus]");
    wanted?.focus();
    // Escape closes the dialog. A dialog that is already gone must not close the next one.
    dialog?.addEventListener("close", closeSheet);
    return () => {
      dialog?.removeEventListener("close", closeSheet);
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const onBackdrop = (event: MouseEvent) => {
    if (event.target === element.current) closeSheet();
  };
  // The browser's own handling of Escape reports the end of the dialog only later.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    closeSheet();
  };
  const size = props.isWide ? "sheet is-wide" : "sheet";
  return (
    <dialog
      ref={element}
      class={props.isBare ? `${size} is-bare` : size}
      aria-labelledby={title}
      onMouseDown={onBackdrop}
      onKeyDown={onKeyDown}
    >
      <header class={props.isBare ? "unseen" : ""}>
        <h2 id={title}>{props.title}</h2>
        <button class="button quiet" onClick={closeSheet} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      {props.children}
      <SheetErrors />
    </dialog>
  );
}
