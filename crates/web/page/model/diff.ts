// Parses the output of `git diff` into files, hunks and lines.

export type LineKind = "context" | "added" | "removed";

export interface DiffLine {
  kind: LineKind;
  text: string;
  /** The number of the line in the old file. `null` for an added line. */
  old: number | null;
  /** The number of the line in the new file. `null` for a removed line. */
  new: number | null;
}

export interface DiffHunk {
  header: string;
  lines: DiffLine[];
}

export interface DiffFile {
  path: string;
  oldPath: string | null;
  change: "added" | "removed" | "renamed" | "modified";
  isBinary: boolean;
  hunks: DiffHunk[];
}

export function parseDiff(patch: string): DiffFile[] {
  const files: DiffFile[] = [];
  let file: DiffFile | null = null;
  let hunk: DiffHunk | null = null;
  let oldLine = 0;
  let newLine = 0;
  let oldLeft = 0;
  let newLeft = 0;
  for (const line of patch.split("\n")) {
    // Inside a hunk every line is content, also one that looks like a header.
    const isContent = hunk !== null && (oldLeft > 0 || newLeft > 0) && /^[-+ \\]|^$/.test(line);
    if (hunk && isContent) {
      const mark = line[0] ?? " ";
      const text = line.slice(1);
      if (mark === "+") {
        hunk.lines.push({ kind: "added", text, old: null, new: newLine++ });
        newLeft--;
      } else if (mark === "-") {
        hunk.lines.push({ kind: "removed", text, old: oldLine++, new: null });
        oldLeft--;
      } else if (mark !== "\\") {
        hunk.lines.push({ kind: "context", text, old: oldLine++, new: newLine++ });
        oldLeft--;
        newLeft--;
      }
      continue;
    }
    if (line.startsWith("diff --git ")) {
      file = newFile(line);
      files.push(file);
      hunk = null;
      continue;
    }
    if (!file) continue;
    const range = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (range) {
      hunk = { header: line, lines: [] };
      file.hunks.push(hunk);
      oldLine = Number(range[1]);
      oldLeft = Number(range[2] ?? 1);
      newLine = Number(range[3]);
      newLeft = Number(range[4] ?? 1);
      continue;
    }
    readHeader(file, line);
  }
  return files;
}

function newFile(line: string): DiffFile {
  const names = /^diff --git (?:"a\/(.*)"|a\/(.*)) (?:"b\/(.*)"|b\/(.*))$/.exec(line);
  const path = names?.[3] ?? names?.[4] ?? line.slice("diff --git ".length);
  return { path, oldPath: null, change: "modified", isBinary: false, hunks: [] };
}

function readHeader(file: DiffFile, line: string): void {
  if (line.startsWith("new file")) file.change = "added";
  else if (line.startsWith("deleted file")) file.change = "removed";
  else if (line.startsWith("rename from ")) {
    file.change = "renamed";
    file.oldPath = line.slice("rename from ".length);
  } else if (line.startsWith("rename to ")) file.path = line.slice("rename to ".length);
  else if (line.startsWith("Binary files ")) file.isBinary = true;
  else if (line.startsWith("+++ b/")) file.path = line.slice("+++ b/".length);
}

export function countLines(file: DiffFile): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const { lines } of file.hunks) {
    for (const { kind } of lines) {
      if (kind === "added") added++;
      if (kind === "removed") removed++;
    }
  }
  return { added, removed };
}

export interface SidePair {
  left: DiffLine | null;
  right: DiffLine | null;
}

/** Places removed lines beside the added lines that replace them. */
export function sideBySide(lines: DiffLine[]): SidePair[] {
  const pairs: SidePair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      pairs.push({ left: removed[index] ?? null, right: added[index] ?? null });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") {
      // A removed line after added ones begins another change.
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.kind === "added") added.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}

export interface ReviewComment {
  path: string;
  /** The number of the line, in the new file unless the line was removed. */
  line: number;
  isRemoved: boolean;
  code: string;
  text: string;
}

/** Whether the file still has the line that a comment is about. */
export function hasLine(file: DiffFile, comment: ReviewComment): boolean {
  if (file.path !== comment.path) return false;
  return file.hunks.some(({ lines }) =>
    lines.some((line) => {
      const isRemoved = line.kind === "removed";
      const number = line.new ?? line.old;
      const isPlace = number === comment.line && isRemoved === comment.isRemoved;
      return isPlace && line.text === comment.code;
    }),
  );
}

/** Writes all comments of a review as one message to the agent. */
export function reviewMessage(comments: ReviewComment[], summary: string): string {
  const parts = ["I have reviewed your changes."];
  if (summary.trim()) parts.push(summary.trim());
  const sorted = [...comments].sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
  for (const { path, line, isRemoved, code, text } of sorted) {
    const place = `${path}:${line}${isRemoved ? " (removed line)" : ""}`;
    parts.push(`${place}\n> ${code.trim()}\n${text.trim()}`);
  }
  if (comments.length > 0) parts.push("Please address each comment.");
  return parts.join("\n\n");
}
