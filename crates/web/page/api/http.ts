// Requests to the daemon that served this page.

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

let csrf = "";
let onUnauthorized: () => void = () => {};

/** Sets the header that proves that a change comes from this page. */
export function setCsrf(value: string): void {
  csrf = value;
}

/** Sets the function that is called when the login has expired. */
export function whenUnauthorized(callback: () => void): void {
  onUnauthorized = callback;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return request<T>(path, { method: "GET", signal: signal ?? null });
}

export async function post<T>(path: string, body?: unknown): Promise<T> {
  return change<T>("POST", path, body);
}

export async function remove<T>(path: string): Promise<T> {
  return change<T>("DELETE", path, undefined);
}

// The daemon carries out a change with the same key once, so that a retry repeats nothing.
async function change<T>(method: string, path: string, body: unknown): Promise<T> {
  const headers: Record<string, string> = { "segue-csrf": csrf };
  headers["idempotency-key"] = crypto.randomUUID();
  if (body !== undefined) headers["content-type"] = "application/json";
  const content = body === undefined ? null : JSON.stringify(body);
  return request<T>(path, { method, headers, body: content });
}

async function request<T>(path: string, options: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin", cache: "no-cache" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "Segue does not answer", ["segue daemon"]);
  }
  if (response.status === 401) onUnauthorized();
  if (!response.ok) throw await problemOf(response);
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
