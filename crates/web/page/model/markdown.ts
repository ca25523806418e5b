// A small parser for the Markdown of agents. It returns a tree; `parts/markdown.tsx` makes elements
// of the tree, so that no text becomes HTML.

export type Inline =
  | { type: "text"; text: string }
  | { type: "code"; text: string }
  | { type: "strong" | "emphasis" | "deleted"; children: Inline[] }
  | { type: "link"; href: string; children: Inline[] }
  | { type: "break" };

export type Block =
  | { type: "paragraph"; children: Inline[] }
  | { type: "heading"; level: number; children: Inline[] }
  | { type: "code"; language: string; text: string }
  | { type: "quote"; children: Block[] }
  | { type: "list"; isOrdered: boolean; start: number; items: ListItem[] }
  | { type: "table"; header: Inline[][]; rows: Inline[][][] }
  | { type: "rule" };

export interface ListItem {
  /** `null` if the item is no check box. */
  isChecked: boolean | null;
  children: Block[];
}

// Deeper nesting is shown as plain text, so that a hostile text cannot exhaust the stack.
const MAX_DEPTH = 8;
const MAX_INLINE_CHARS = 20_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +)(.*)$/;
const TABLE_LINE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

export function parseMarkdown(text: string): Block[] {
  return parseBlocks(text.replace(/\r\n?/g, "\n").split("\n"), 0);
}

function parseBlocks(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at++;
      continue;
    }
    const [block, next] = parseBlock(lines, at, depth);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

type Parsed = [Block, number];

function parseBlock(lines: string[], at: number, depth: number): Parsed {
  const line = lines[at] ?? "";
  const heading = HEADING.exec(line);
  if (heading) {
    const [, marks = "#", text = ""] = heading;
    return [{ type: "heading", level: marks.length, children: parseInline(text) }, at + 1];
  }
  if (FENCE.test(line)) return parseFence(lines, at);
  if (RULE.test(line)) return [{ type: "rule" }, at + 1];
  if (depth < MAX_DEPTH && QUOTE.test(line)) return parseQuote(lines, at, depth);
  if (depth < MAX_DEPTH && ITEM.test(line)) return parseList(lines, at, depth);
  if (line.includes("|") && TABLE_LINE.test(lines[at + 1] ?? "")) return parseTable(lines, at);
  return parseParagraph(lines, at);
}

function parseFence(lines: string[], at: number): Parsed {
  const [, mark = "```", language = ""] = FENCE.exec(lines[at] ?? "") ?? [];
  const end = new RegExp(`^ {0,3}${mark[0] === "`" ? "`" : "~"}{${mark.length},}\\s*$`);
  let next = at + 1;
  while (next < lines.length && !end.test(lines[next] ?? "")) next++;
  const text = lines.slice(at + 1, next).join("\n");
  return [{ type: "code", language, text }, next + 1];
}

function parseQuote(lines: string[], at: number, depth: number): Parsed {
  let next = at;
  while (next < lines.length && QUOTE.test(lines[next] ?? "")) next++;
  const inner = lines.slice(at, next).map((line) => line.replace(QUOTE, ""));
  return [{ type: "quote", children: parseBlocks(inner, depth + 1) }, next];
}

function parseList(lines: string[], at: number, depth: number): Parsed {
  const first = ITEM.exec(lines[at] ?? "");
  const isOrdered = /\d/.test(first?.[2] ?? "");
  const items: ListItem[] = [];
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next] ?? "");
    if (!item || /\d/.test(item[2] ?? "") !== isOrdered) break;
    const [, lead = "", mark = "", space = " ", text = ""] = item;
    const indent = lead.length + mark.length + space.length;
    const inner = [text];
    next++;
    while (next < lines.length && belongsToItem(lines, next, indent)) {
      inner.push((lines[next] ?? "").slice(Math.min(indent, leading(lines[next] ?? ""))));
      next++;
    }
    items.push(listItem(inner, depth));
  }
  const start = isOrdered ? Number.parseInt(first?.[2] ?? "1", 10) : 1;
  return [{ type: "list", isOrdered, start, items }, next];
}

function listItem(lines: string[], depth: number): ListItem {
  const box = /^\[([ xX])\] +/.exec(lines[0] ?? "");
  if (box) lines[0] = (lines[0] ?? "").slice(box[0].length);
  return {
    isChecked: box ? box[1] !== " " : null,
    children: parseBlocks(lines, depth + 1),
  };
}

function belongsToItem(lines: string[], at: number, indent: number): boolean {
  const line = lines[at] ?? "";
  if (line.trim() === "") {
    const following = lines[at + 1] ?? "";
    return following.trim() !== "" && leading(following) >= indent;
  }
  if (leading(line) >= Math.min(indent, 2)) return true;
  const isNewBlock = ITEM.test(line) || HEADING.test(line) || FENCE.test(line) || QUOTE.test(line);
  return !isNewBlock && (lines[at - 1] ?? "").trim() !== "";
}

function leading(line: string): number {
  return line.length - line.trimStart().length;
}

function parseTable(lines: string[], at: number): Parsed {
  const cells = (line: string) =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => parseInline(cell.trim()));
  const header = cells(lines[at] ?? "");
  const rows: Inline[][][] = [];
  let next = at + 2;
  while (next < lines.length && (lines[next] ?? "").includes("|")) {
    rows.push(cells(lines[next] ?? "").slice(0, header.length));
    next++;
  }
  return [{ type: "table", header, rows }, next];
}

function parseParagraph(lines: string[], at: number): Parsed {
  let next = at + 1;
  while (next < lines.length && continuesParagraph(lines[next] ?? "")) next++;
  return [{ type: "paragraph", children: parseInline(lines.slice(at, next).join("\n")) }, next];
}

function continuesParagraph(line: string): boolean {
  return !(
    line.trim() === "" ||
    HEADING.test(line) ||
    FENCE.test(line) ||
    QUOTE.test(line) ||
    ITEM.test(line) ||
    RULE.test(line)
  );
}

const INLINE = new RegExp(
  [
    "\\\\([\\\\`*_{}\\[\\]()#+.!|~<>-])", // 1: an escaped character
    "(`+)([\\s\\S]*?[^`])\\2(?!`)", // 2, 3: code
    "\\[([^\\[\\]]*)\\]\\(([^()\\s]*(?:\\([^()\\s]*\\)[^()\\s]*)*)\\)", // 4, 5: a link
    "(?<![\\w*])\\*\\*(?=\\S)([\\s\\S]*?\\S)\\*\\*", // 6: strong
    "(?<!\\w)__(?=\\S)([\\s\\S]*?\\S)__(?!\\w)", // 7: strong
    "(?<![\\w*])\\*(?=[^\\s*])([\\s\\S]*?[^\\s*])\\*(?!\\*)", // 8: emphasis
    "(?<!\\w)_(?=[^\\s_])([\\s\\S]*?[^\\s_])_(?!\\w)", // 9: emphasis
    "~~(?=\\S)([\\s\\S]*?\\S)~~", // 10: deleted
    "(https?://[^\\s<>\"'`]*[^\\s<>\"'`.,;:!?)\\]*_])", // 11: an address
    "( {2,}\\n)", // 12: a line break
  ].join("|"),
  "g",
);

export function parseInline(text: string, depth = 0): Inline[] {
  if (depth > MAX_DEPTH || text.length > MAX_INLINE_CHARS) return [{ type: "text", text }];
  const result: Inline[] = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > last) result.push({ type: "text", text: text.slice(last, match.index) });
    result.push(inlineOf(match, depth));
    last = match.index + match[0].length;
  }
  if (last < text.length) result.push({ type: "text", text: text.slice(last) });
  return result;
}

function inlineOf(match: RegExpMatchArray, depth: number): Inline {
  const nested = (text: string) => parseInline(text, depth + 1);
  const [whole, escaped, , code, label, target, strong, strong2, em, em2, deleted, url, brk] =
    match;
  if (escaped !== undefined) return { type: "text", text: escaped };
  if (code !== undefined) return { type: "code", text: code.trim() };
  if (target !== undefined) {
    const href = safeLink(target);
    if (!href) return { type: "text", text: whole };
    return { type: "link", href, children: nested(label || target) };
  }
  const bold = strong ?? strong2;
  if (bold !== undefined) return { type: "strong", children: nested(bold) };
  const emphasis = em ?? em2;
  if (emphasis !== undefined) return { type: "emphasis", children: nested(emphasis) };
  if (deleted !== undefined) return { type: "deleted", children: nested(deleted) };
  if (url !== undefined) {
    return { type: "link", href: url, children: [{ type: "text", text: url }] };
  }
  if (brk !== undefined) return { type: "break" };
  return { type: "text", text: whole };
}

/** Returns an address that is safe to open: of the web or of mail, never of a script. */
export function safeLink(target: string): string | null {
  return /^(?:https?:\/\/|mailto:)/i.test(target) ? target : null;
}
