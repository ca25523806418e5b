// Answers to requests that `first-requests.ts` sends before the page itself runs.

/** How many items of a list one request asks for. */
export const PAGE_ITEMS = 500;

export const FIRST_PATHS = {
  newest: "/v1/events?newest=true&limit=1",
  identity: "/v1/web/session",
  sessions: `/v1/sessions?limit=${PAGE_ITEMS}`,
  attention: "/v1/attention",
} as const;

export type FirstAnswers = Record<keyof typeof FIRST_PATHS, Promise<unknown>>;

declare global {
  interface Window {
    segueFirstAnswers?: Partial<FirstAnswers>;
  }
}

/** Returns the answer to an early request for this path, once. `null` if there is none. */
export async function takeFirstAnswer(path: string): Promise<unknown> {
  // From now on an early script that comes late sends nothing.
  const answers = (window.segueFirstAnswers ??= {});
  const names = Object.keys(FIRST_PATHS) as (keyof FirstAnswers)[];
  const name = names.find((it) => FIRST_PATHS[it] === path);
  const answer = name && answers[name];
  if (!answer) return null;
  delete answers[name];
  return answer.catch(() => null);
}

/** Drops the answers that the page did not need, because they are old afterwards. */
export function dropFirstAnswers(): void {
  window.segueFirstAnswers = {};
}
