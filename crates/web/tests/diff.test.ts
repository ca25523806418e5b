import assert from "node:assert/strict";
import { test } from "node:test";

import { countLines, parseDiff, reviewMessage, sideBySide } from "../page/model/diff.ts";

const PATCH = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,4 +1,4 @@ context
 one
-two
--- a/looks like a header
+2
+++ b/looks like a header
 four
diff --git a/old.txt b/new.txt
similarity index 90%
rename from old.txt
rename to new.txt
diff --git a/b.png b/b.png
new file mode 100644
Binary files /dev/null and b/b.png differ
`;

test("files, kinds of changes and numbers of lines are read", () => {
  const files = parseDiff(PATCH);
  assert.deepEqual(files.map(({ path, change, isBinary }) => [path, change, isBinary]), [
    ["a.txt", "modified", false], ["new.txt", "renamed", false], ["b.png", "added", true],
  ]);
  const [file] = files;
  assert.ok(file);
  assert.deepEqual(countLines(file), { added: 2, removed: 2 });
  assert.deepEqual(file.hunks[0]?.lines.map(({ kind, old, new: number }) => [kind, old, number]), [
    ["context", 1, 1], ["removed", 2, null], ["removed", 3, null], ["added", null, 2], ["added", null, 3], ["context", 4, 4],
  ]);
});

test("a patch that is cut in a hunk keeps the files after it", () => {
  const cut = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n one\ndiff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n";
  assert.deepEqual(parseDiff(cut).map((file) => [file.path, file.hunks[0]?.lines.length]), [["a", 1], ["b", 2]]);
});

test("removed lines are beside the added lines that replace them", () => {
  const lines = parseDiff(PATCH)[0]?.hunks[0]?.lines ?? [];
  assert.deepEqual(sideBySide(lines).map(({ left, right }) => [left?.text ?? null, right?.text ?? null]), [
    ["one", "one"], ["two", "2"], ["-- a/looks like a header", "++ b/looks like a header"], ["four", "four"],
  ]);
});

test("comments become one message, sorted by their places", () => {
  const comment = (path: string, line: number, text: string) => ({ path, line, isRemoved: false, code: " code", text });
  const message = reviewMessage([comment("b", 2, "second"), comment("a", 9, "first")], "Good work.");
  assert.ok(message.indexOf("a:9") < message.indexOf("b:2"));
  assert.ok(message.includes("> code\nfirst"));
  assert.ok(message.includes("Good work."));
});
