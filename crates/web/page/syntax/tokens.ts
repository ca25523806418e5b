// Coloured parts of a text. They become text nodes, never HTML.

export type TokenKind =
  | "keyword"
  | "string"
  | "comment"
  | "number"
  | "title"
  | "type"
  | "name"
  | "meta";

export interface Token {
  /** `null` for a part without a colour. */
  kind: TokenKind | null;
  text: string;
}

/** The scopes of the library, without what follows the first dot. */
const KINDS: Record<string, TokenKind> = {
  keyword: "keyword",
  operator: "keyword",
  "selector-tag": "keyword",
  "template-tag": "keyword",
  string: "string",
  regexp: "string",
  char: "string",
  addition: "string",
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  number: "number",
  literal: "number",
  symbol: "number",
  link: "number",
  deletion: "number",
  title: "title",
  section: "title",
  "selector-id": "title",
  "selector-class": "title",
  type: "type",
  built_in: "type",
  class: "type",
  attr: "name",
  attribute: "name",
  name: "name",
  property: "name",
  variable: "name",
  "template-variable": "name",
  meta: "meta",
  bullet: "meta",
  code: "meta",
};

export function kindOf(scope: string): TokenKind | null {
  return KINDS[scope.split(".", 1)[0] ?? ""] ?? null;
}

/** Splits tokens at the ends of lines. Returns as many lists as the text has lines. */
export function tokenLines(tokens: Token[]): Token[][] {
  const lines: Token[][] = [[]];
  for (const { kind, text } of tokens) {
    text.split("\n").forEach((part, index) => {
      if (index > 0) lines.push([]);
      if (part) lines.at(-1)?.push({ kind, text: part });
    });
  }
  return lines;
}

// Endings of file names and words after ``` for the languages of the library.
const LANGUAGES: Record<string, string[]> = {
  bash: ["sh", "bash", "zsh", "shell", "console"],
  c: ["c", "h"],
  cpp: ["cc", "cpp", "cxx", "hh", "hpp", "c++"],
  csharp: ["cs", "csharp"],
  css: ["css"],
  diff: ["diff", "patch"],
  go: ["go", "golang"],
  ini: ["toml", "ini", "cfg", "conf"],
  java: ["java"],
  javascript: ["js", "mjs", "cjs", "jsx", "javascript"],
  json: ["json", "jsonc", "webmanifest"],
  kotlin: ["kt", "kts", "kotlin"],
  markdown: ["md", "markdown"],
  php: ["php"],
  python: ["py", "pyi", "python"],
  ruby: ["rb", "ruby"],
  rust: ["rs", "rust"],
  sql: ["sql"],
  swift: ["swift"],
  typescript: ["ts", "tsx", "mts", "typescript"],
  xml: ["html", "xml", "svg", "vue"],
  yaml: ["yml", "yaml"],
};

const BY_WORD = new Map(
  Object.entries(LANGUAGES).flatMap(([language, words]) => words.map((word) => [word, language])),
);

/** Returns the language of a word after ``` or of the ending of a file name. */
export function languageOf(word: string): string | null {
  return BY_WORD.get(word.toLowerCase()) ?? null;
}

export function languageOfFile(path: string): string | null {
  const name = path.split("/").at(-1) ?? "";
  const ending = name.includes(".") ? name.split(".").at(-1) : null;
  return ending ? languageOf(ending) : null;
}
