import assert from "node:assert/strict";
import { test } from "node:test";

import { tokensOf } from "../page/syntax/library.ts";
import { languageOf, languageOfFile, tokenLines } from "../page/syntax/tokens.ts";

test("a text is divided into parts that are the same text together", () => {
  const texts: [string, string, string, string][] = [
    ["rust", "fn main() { let x = \"a<b>\"; } // end", "keyword", "fn"],
    ["typescript", "const a = `x ${1 + 2}`;", "keyword", "const"],
    ["python", "def f():\n    return 'x'", "string", "'x'"],
    ["ini", "[table]\nkey = \"value\"", "string", "\"value\""],
    ["xml", "<script>alert(1)</script>", "name", "script"],
    ["markdown", "# Title\n\n`code`", "title", "# Title"],
  ];
  for (const [language, text, kind, part] of texts) {
    const tokens = tokensOf(language, text);
    assert.equal(tokens.map((it) => it.text).join(""), text, language);
    assert.ok(tokens.some((it) => it.kind === kind && it.text === part), `${language}: ${JSON.stringify(tokens)}`);
  }
});

test("code inside of other code keeps its text", () => {
  const text = "<style>p { color: red }</style>\n<script>let a = 1;</script>";
  assert.equal(tokensOf("xml", text).map((it) => it.text).join(""), text);
});

test("parts are divided at the ends of lines", () => {
  const lines = tokenLines(tokensOf("rust", "/* a\nb */ fn x() {}\n\nlet"));
  assert.deepEqual(lines.map((line) => line.map((it) => it.text).join("")), ["/* a", "b */ fn x() {}", "", "let"]);
  assert.deepEqual(lines[1]?.[0], { kind: "comment", text: "b */" });
});

test("languages are known by words and by endings of files", () => {
  assert.equal(languageOf("TS"), "typescript");
  assert.equal(languageOf("brainfuck"), null);
  assert.equal(languageOfFile("crates/web/src/lib.rs"), "rust");
  assert.equal(languageOfFile("Makefile"), null);
  assert.equal(languageOfFile("a.b/README"), null);
});
