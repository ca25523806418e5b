// The key of this page: the half of the login that is in the storage of the page. The other half is
// the cookie, which the browser also sends to other ports of the host. The storage belongs to this
// port alone.

const NAME = "segue.page-key";

/** Returns the key. It is read each time, because another tab may log in again. */
export function pageKey(): string | null {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}

/** Stores the key. Fails if the browser stores nothing for this page. */
export function keepPageKey(key: string): void {
  try {
    localStorage.setItem(NAME, key);
  } catch {
    throw new Error("This browser stores nothing for this page. Allow its storage to log in.");
  }
}

/** Forgets a key that the daemon refuses, unless another tab has stored a newer one. */
export function forgetPageKey(refused: string | null): void {
  if (refused !== null && pageKey() === refused) localStorage.removeItem(NAME);
}

/** Calls back when another tab logs in or out, with the key that is stored now. */
export function watchPageKey(callback: (key: string | null) => void): void {
  window.addEventListener("storage", ({ key }) => {
    // The storage was cleared if there is no name.
    if (key === NAME || key === null) callback(pageKey());
  });
}

/** The headers that prove that a request comes from this page. */
export function pageHeaders(key: string | null): Record<string, string> {
  return key === null ? {} : { "segue-page-key": key };
}

/** The subprotocols that do the same for a WebSocket, to which a page cannot add headers. */
export function pageProtocols(): string[] {
  const key = pageKey();
  return key === null ? ["segue.terminal"] : ["segue.terminal", `segue.page-key.${key}`];
}
