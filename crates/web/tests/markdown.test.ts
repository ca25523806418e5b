import assert from "node:assert/strict";
import { test } from "node:test";

import { type Block, type Inline, parseInline, parseMarkdown, safeLink } from "../page/model/markdown.ts";

/** Returns the text of a tree as a reader sees it. */
function text(nodes: (Block | Inline)[]): string {
  return nodes
    .map((node) => {
      if ("text" in node) return node.text;
      if ("children" in node) return text(node.children);
      return "";
    })
    .join("");
}

const types = (source: string) => parseMarkdown(source).map((block) => block.type);

test("blocks are recognized", () => {
  assert.deepEqual(types("# Title\n\ntext\nmore\n\n- a\n- b\n\n1. c\n\n> d\n\n---\n\n```ts\nx\n```"), [
    "heading", "paragraph", "list", "list", "quote", "rule", "code",
  ]);
});

test("fenced code keeps its text, also if the fence is not closed", () => {
  const [block] = parseMarkdown("```rust\nfn a() {}\n# no heading\n");
  assert.deepEqual(block, { type: "code", language: "rust", text: "fn a() {}\n# no heading\n" });
});

test("nested lists and check boxes are kept", () => {
  const [list] = parseMarkdown("- [x] done\n  - inner\n- [ ] open");
  assert.ok(list?.type === "list");
  assert.deepEqual(list.items.map((item) => item.isChecked), [true, false]);
  assert.deepEqual(list.items[0]?.children.map((it) => it.type), ["paragraph", "list"]);
});

test("tables have a header and rows of the same width", () => {
  const [table] = parseMarkdown("| a | b |\n|---|---|\n| 1 | 2 | 3 |");
  assert.ok(table?.type === "table");
  assert.equal(table.header.length, 2);
  assert.equal(table.rows[0]?.length, 2);
});

test("markup of HTML stays text", () => {
  const source = '<img src=x onerror="alert(1)"> <script>alert(2)</script>';
  assert.equal(text(parseMarkdown(source)), source);
  assert.ok(parseInline(source).every((node) => node.type === "text"));
});

test("only links of the web and of mail become links", () => {
  const cases: [string, boolean][] = [
    ["https://a.example/x", true], ["HTTP://a.example", true], ["mailto:a@b.example", true],
    ["javascript:alert(1)", false], ["data:text/html,x", false], ["/v1/shutdown", false], [" javascript:x", false],
  ];
  for (const [target, isLink] of cases) assert.equal(safeLink(target) !== null, isLink, target);
  assert.deepEqual(parseInline("[a](javascript:alert(1))").map((node) => node.type), ["text"]);
});

test("names with underscores are no emphasis", () => {
  assert.equal(text(parseInline("a snake_case_name and 2*3*4")), "a snake_case_name and 2*3*4");
  assert.deepEqual(parseInline("**b** *e* `c`").map((node) => node.type), ["strong", "text", "emphasis", "text", "code"]);
});

test("hostile texts are parsed in linear time", () => {
  const long = 50_000;
  for (const source of ["[".repeat(long), "*".repeat(long), "> ".repeat(long), "- ".repeat(5000), "`".repeat(long), "a|".repeat(long)]) {
    assert.ok(parseMarkdown(source).length > 0);
  }
});
