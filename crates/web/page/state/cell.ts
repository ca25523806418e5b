// A value that components watch. Setting it draws the components that watch it, and no others.

import { useEffect, useState } from "preact/hooks";

export class Cell<T> {
  private readonly watchers = new Set<(value: T) => void>();

  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const watcher of [...this.watchers]) watcher(value);
  }

  update(change: (value: T) => T): void {
    this.set(change(this.value));
  }

  watch(watcher: (value: T) => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  get isWatched(): boolean {
    return this.watchers.size > 0;
  }
}

/** Returns the value of a cell, and draws the component again when it changes. */
export function useCell<T>(cell: Cell<T>): T {
  return useSelected(cell, (value) => value);
}

/** Returns a part of a cell's value. The component is drawn again only when that part changes. */
export function useSelected<T, P>(cell: Cell<T>, select: (value: T) => P): P {
  const [, setVersion] = useState(0);
  const selected = select(cell.get());
  useEffect(() => {
    let last = selected;
    const check = () => {
      const next = select(cell.get());
      if (Object.is(next, last)) return;
      last = next;
      setVersion((version) => version + 1);
    };
    // The value may have changed between the drawing and this effect.
    check();
    return cell.watch(check);
  });
  return selected;
}
