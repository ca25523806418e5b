// Turns of a transcript as a chat shows them: a tool call and its result are one item.

import type { StoryPart, TranscriptPage, Turn } from "../api/types.ts";

export type ChatItem =
  | { type: "said"; key: string; by: "user" | "assistant"; turn: Turn }
  | { type: "tool"; key: string; name: string; call: Turn | null; result: Turn | null }
  | { type: "separator"; key: string; turn: Turn };

/** The turns of one of the conversations that handoffs connect. */
export interface StorySection {
  part: StoryPart;
  session: string;
  vendor: string;
  turns: Turn[];
}

/** What is loaded of a story: its newest sections, and the cursor of the page before them. */
export interface Story {
  sections: StorySection[];
  before: string | null;
}

const ONLY_PART: StoryPart = { number: 0, address: "", taken_over: null, unreadable: null };

function sectionOf(page: TranscriptPage): StorySection {
  const { session, vendor, turns } = page;
  return { part: page.part ?? ONLY_PART, session, vendor, turns };
}

/** Adds the newest page. Begins again if turns between it and the older ones would be missing. */
export function withNewest(story: Story, page: TranscriptPage): Story {
  const section = sectionOf(page);
  const last = story.sections.at(-1);
  const isSame = last?.part.number === section.part.number;
  const turns = last && isSame ? joinNewest(last.turns, section.turns) : null;
  if (!turns) return { sections: [section], before: page.next ?? null };
  return { ...story, sections: [...story.sections.slice(0, -1), { ...section, turns }] };
}

/** Adds the page before the oldest one. */
export function withOlder(story: Story, page: TranscriptPage): Story {
  const section = sectionOf(page);
  const [first, ...others] = story.sections;
  const before = page.next ?? null;
  if (first && first.part.number === section.part.number) {
    const turns = [...section.turns, ...first.turns];
    return { sections: [{ ...first, turns }, ...others], before };
  }
  return { sections: [section, ...story.sections], before };
}

/** Groups turns. The key of an item stays the same when turns are added before or after it. */
export function chatItems(turns: Turn[], part = 0): ChatItem[] {
  const items: ChatItem[] = [];
  const openCalls = new Map<string, ChatItem & { type: "tool" }>();
  const nextKey = keyMaker(turns.length, part);
  turns.forEach((turn, index) => {
    const key = nextKey(turn, index);
    if (turn.role === "tool_call") {
      const item = { type: "tool" as const, key, name: toolName(turn), call: turn, result: null };
      items.push(item);
      if (turn.tool?.id) openCalls.set(turn.tool.id, item);
      return;
    }
    if (turn.role === "tool_result") {
      const call = openCalls.get(turn.tool?.id ?? "") ?? lastOpenCall(items);
      if (call) {
        call.result = turn;
        openCalls.delete(turn.tool?.id ?? "");
      } else items.push({ type: "tool", key, name: toolName(turn), call: null, result: turn });
      return;
    }
    if (turn.role === "summary") items.push({ type: "separator", key, turn });
    else items.push({ type: "said", key, by: turn.role, turn });
  });
  return items;
}

// The time of a turn identifies it. Turns without a time are counted from the end.
function keyMaker(total: number, part: number): (turn: Turn, index: number) => string {
  const seen = new Map<string, number>();
  return (turn, index) => {
    const time = turn.at ? Date.parse(turn.at) : Number.NaN;
    if (Number.isNaN(time)) return `turn-${part}-end-${total - index}`;
    const key = `turn-${part}-${time}-${turn.role}`;
    const number = (seen.get(key) ?? 0) + 1;
    seen.set(key, number);
    return number === 1 ? key : `${key}-${number}`;
  };
}

/**
 * Joins turns that were loaded earlier with the newest page. Returns `null` if they do not overlap,
 * so that turns between them would be missing.
 */
export function joinNewest(older: Turn[], newest: Turn[]): Turn[] | null {
  const [first] = newest;
  if (!first) return [];
  const isFirst = (turn: Turn) =>
    turn.at === first.at && turn.role === first.role && turn.text === first.text;
  const at = older.findLastIndex(isFirst);
  return at < 0 ? null : [...older.slice(0, at), ...newest];
}

function toolName(turn: Turn): string {
  return turn.tool?.name || "tool";
}

// Some vendors give their tool calls no ids: the result then follows its call.
function lastOpenCall(items: ChatItem[]): (ChatItem & { type: "tool" }) | null {
  const last = items.at(-1);
  return last?.type === "tool" && last.result === null ? last : null;
}

/** Returns the one line that a folded tool call shows. */
export function toolSummary(call: Turn | null): string {
  if (!call) return "";
  const text = call.text.trim();
  const fromJson = mainArgument(text);
  return (fromJson ?? text.split("\n", 1)[0] ?? "").slice(0, 200);
}

const MAIN_ARGUMENTS = ["command", "cmd", "file_path", "path", "pattern", "query", "url", "prompt"];

function mainArgument(text: string): string | null {
  if (!text.startsWith("{")) return null;
  try {
    const fields = JSON.parse(text) as Record<string, unknown>;
    for (const name of MAIN_ARGUMENTS) {
      const value = fields[name];
      if (typeof value === "string") return value.split("\n", 1)[0] ?? "";
    }
  } catch {
    // The text is no JSON, and is shown as it is.
  }
  return null;
}

/** Returns how long a tool ran, in milliseconds. `null` if the transcript has no times. */
export function toolDuration(call: Turn | null, result: Turn | null): number | null {
  if (!call?.at || !result?.at) return null;
  const passed = Date.parse(result.at) - Date.parse(call.at);
  return Number.isFinite(passed) && passed >= 0 ? passed : null;
}

/** Whether a turn contains the text that is searched for. */
export function itemContains(item: ChatItem, search: string): boolean {
  const wanted = search.toLowerCase();
  const texts =
    item.type === "tool"
      ? [item.name, item.call?.text ?? "", item.result?.text ?? ""]
      : [item.turn.text];
  return texts.some((text) => text.toLowerCase().includes(wanted));
}
