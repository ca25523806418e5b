// What the extension decides without the editor: addresses, groups, and how untrusted text is shown.

import type { Question, Session as SessionView } from "../page/api/types.ts";
import { groupByFleet, statusDetail, statusLook } from "../page/model/status.ts";

/** A session as `segue ls --json` prints it. */
export type ListedSession = SessionView & { attention: string | null };

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const URL_START = "segue://session/";

export function isSessionId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/** Returns the address that is the same for as long as the session exists. */
export function addressOf(id: string): string {
  return URL_START + id;
}

/** Returns the id in a `segue://session/ID` address or in a bare id. `null` for any other text. */
export function idInAddress(text: string): string | null {
  const trimmed = text.trim().toLowerCase();
  const id = trimmed.startsWith(URL_START) ? trimmed.slice(URL_START.length) : trimmed;
  return isSessionId(id) ? id : null;
}

/** Returns the id in the path `/session/ID` of an address that the editor was asked to open. */
export function idInPath(path: string): string | null {
  const [, id] = /^\/session\/([^/]+)$/.exec(path) ?? [];
  return isSessionId(id) ? id : null;
}

/** Finds the session that an address, an id or a name means. `null` if no or several sessions match. */
export function findSession(text: string, sessions: Iterable<ListedSession>): ListedSession | null {
  const all = [...sessions];
  const id = idInAddress(text);
  if (id) return all.find((it) => it.session === id) ?? null;
  const name = text.trim();
  const matching = all.filter((it) => it.address === name || it.name === name);
  const exact = matching.find((it) => it.address === name);
  return exact ?? (matching.length === 1 ? matching[0]! : null);
}

/**
 * Returns untrusted text for a label or a notification, on one line. The editor takes `$(name)` for
 * an icon and `[text](address)` for a link, which may be a command. A zero-width space prevents both.
 */
export function plain(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Bidi_C}\u2028\u2029]+/gu, " ")
    .replaceAll("$(", "$\u200b(")
    .replaceAll("](", "]\u200b(");
}

export interface SessionGroup {
  id: string;
  label: string;
  description: string;
  sessions: ListedSession[];
}

/** The group of the sessions that need a person. No fleet has an empty name. */
export const NEEDS_YOU = "";

/**
 * Groups sessions for the view: first those that need a person, then all of them by fleet. In a
 * fleet they are sorted by name, so that no row moves away while a person points at it.
 */
export function groupsOf(sessions: Iterable<ListedSession>): SessionGroup[] {
  const all = [...sessions];
  const needing = waitingSessions(all);
  const fleets = groupByFleet(all).map((it) => ({
    id: it.name,
    label: it.name,
    description: it.folder,
    sessions: (it.sessions as ListedSession[]).sort((a, b) => a.name.localeCompare(b.name)),
  }));
  const first = { id: NEEDS_YOU, label: "Needs you", description: "", sessions: needing };
  return needing.length > 0 ? [first, ...fleets] : fleets;
}

/** Returns the sessions that need a person. The one that waits longest is first. */
export function waitingSessions(sessions: Iterable<ListedSession>): ListedSession[] {
  const needing = [...sessions].filter((it) => it.attention !== null);
  const rank = (it: ListedSession) => (it.status === "waiting" ? 0 : 1);
  return needing.sort((a, b) => rank(a) - rank(b) || a.updated_at.localeCompare(b.updated_at));
}

/** Returns the status as a word, with what is asked or how it ended. */
export function statusText(session: ListedSession): string {
  const detail = statusDetail(session);
  const { word } = statusLook(session.status);
  return detail ? `${word} · ${detail}` : word;
}

/** Whether the session has a terminal that can be opened. */
export function hasTerminal(session: ListedSession): boolean {
  return !session.headless && session.pid !== null;
}

export interface Choice {
  /** The word for `segue answer`. */
  answer: string;
  text: string;
}

/** Returns the possible answers to a question. A question without choices is answered yes or no. */
export function choicesOf(question: Question): Choice[] {
  if (question.choices.length === 0) {
    return ["yes", "no"].map((word) => ({ answer: word, text: word }));
  }
  return question.choices.map((text, index) => ({ answer: `${index + 1}`, text }));
}

/** Breaks a text into lines of at most `width` characters, so that a list shows all of it. */
export function wrapped(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => {
    const characters = [...line.trimEnd()];
    const lines = [];
    while (characters.length > width) {
      const space = characters.lastIndexOf(" ", width);
      lines.push(characters.splice(0, space > 0 ? space + 1 : width).join("").trimEnd());
    }
    return [...lines, characters.join("")];
  });
}
