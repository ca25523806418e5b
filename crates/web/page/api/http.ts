// Requests to the daemon that served this page.

import { takeFirstAnswer } from "./first-answers.ts";
import { forgetPageKey, pageHeaders, pageKey } from "./page-key.ts";
import type { Problem } from "./types.ts";

/** An answer with an error, or a connection that failed (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hints: string[] = [],
  ) {
    super(message);
  }

  get isOffline(): boolean {
    return this.status === 0;
  }
}

let onUnauthorized: (error: ApiError) => void = () => {};

/** Sets the function that is called when the daemon does not accept the login of this browser. */
export function whenUnauthorized(callback: (error: ApiError) => void): void {
  onUnauthorized = callback;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const early = await takeFirstAnswer(path);
  if (early !== null) return early as T;
  return read<T>(await request(path, { method: "GET", signal: signal ?? null }));
}

export async function post<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const options = { ...change("POST", body), signal: signal ?? null };
  return read<T>(await request(path, options));
}

/** Sends a change that needs no login. Its refusal does not end the login of this browser. */
export async function postWithoutLogin<T>(path: string, body: unknown): Promise<T> {
  return read<T>(await send(path, change("POST", body)));
}

export async function remove<T>(path: string): Promise<T> {
  return read<T>(await request(path, change("DELETE", undefined)));
}

// The daemon carries out a change with the same key once, so that a retry repeats nothing.
function change(method: string, body: unknown): RequestInit {
  const headers: Record<string, string> = { "idempotency-key": crypto.randomUUID() };
  if (body !== undefined) headers["content-type"] = "application/json";
  return { method, headers, body: body === undefined ? null : JSON.stringify(body) };
}

/** Sends a request with the login of this browser. Fails unless the daemon accepts it. */
export async function request(path: string, options: RequestInit): Promise<Response> {
  const key = pageKey();
  try {
    return await send(path, { ...options, headers: { ...options.headers, ...pageHeaders(key) } });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      forgetPageKey(key);
      onUnauthorized(error);
    }
    throw error;
  }
}

async function send(path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin", cache: "no-cache" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "Segue does not answer", ["segue daemon"]);
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function read<T>(response: Response): Promise<T> {
  const text = await response.text();
  return (text ? JSON.parse(text) : null) as T;
}

async function problemOf(response: Response): Promise<ApiError> {
  const fallback = `Segue answered with status ${response.status}`;
  try {
    const problem = (await response.json()) as Partial<Problem>;
    const message = problem.detail || problem.message || fallback;
    return new ApiError(response.status, message, problem.hints ?? []);
  } catch {
    return new ApiError(response.status, fallback);
  }
}

/** Returns the words for an error of any kind. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
