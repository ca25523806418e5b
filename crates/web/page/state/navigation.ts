// The place that the address bar names.

import { type Route, parsePath } from "../model/routes.ts";
import { Cell, useCell } from "./cell.ts";

const route = new Cell<Route>(parsePath(location.pathname));

export function startNavigation(): void {
  addEventListener("popstate", () => route.set(parsePath(location.pathname)));
  // Links inside the page change the place without loading the page again.
  document.addEventListener("click", (event) => {
    const isPlain = !event.defaultPrevented && event.button === 0;
    if (!isPlain || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.target || link.download) return;
    if (link.origin !== location.origin || link.hash) return;
    event.preventDefault();
    go(link.pathname);
  });
}

export function go(path: string, options: { replace?: boolean } = {}): void {
  if (path === location.pathname) return;
  if (options.replace) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  route.set(parsePath(path));
  scrollTo(0, 0);
}

export function useRoute(): Route {
  return useCell(route);
}

export function currentRoute(): Route {
  return route.get();
}
