// The library that finds the parts of a text. Loaded when the first code is shown.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

import { type Token, type TokenKind, kindOf } from "./tokens.ts";

const LANGUAGES = {
  bash, c, cpp, csharp, css, diff, go, ini, java, javascript, json, kotlin, markdown, php, python,
  ruby, rust, sql, swift, typescript, xml, yaml,
};

/** Collects the parts of a text, where the library would write HTML. */
class TokenEmitter {
  readonly tokens: Token[] = [];
  private readonly kinds: (TokenKind | null)[] = [null];

  addText(text: string): void {
    if (text === "") return;
    const kind = this.kinds.at(-1) ?? null;
    const last = this.tokens.at(-1);
    if (last && last.kind === kind) last.text += text;
    else this.tokens.push({ kind, text });
  }

  startScope(scope: string): void {
    // A part without a colour of its own has that of the part around it.
    this.kinds.push(kindOf(scope) ?? this.kinds.at(-1) ?? null);
  }

  endScope(): void {
    this.kinds.pop();
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(inner: TokenEmitter): void {
    for (const { kind, text } of inner.tokens) {
      this.kinds.push(kind);
      this.addText(text);
      this.kinds.pop();
    }
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }
}

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
hljs.configure({ __emitter: TokenEmitter } as object);

export function tokensOf(language: string, text: string): Token[] {
  const result = hljs.highlight(text, { language, ignoreIllegals: true });
  return (result._emitter as unknown as TokenEmitter).tokens;
}
