// Code with colours. Until the library is loaded, and without it, the text has none.

import { useEffect, useMemo, useState } from "preact/hooks";

import type { Token } from "./tokens.ts";

type Tokenizer = (language: string, text: string) => Token[];

// A long text, or one with very long lines, is shown without colours, so that the page stays quick.
const MAX_CHARS = 100_000;
const MAX_LINE_CHARS = 2000;

let loaded: Tokenizer | null = null;
let loading: Promise<Tokenizer> | null = null;

function load(): Promise<Tokenizer> {
  loading ??= import("./library.ts").then(({ tokensOf }) => (loaded = tokensOf));
  return loading;
}

function isTooLong(text: string): boolean {
  return text.length > MAX_CHARS || text.split("\n").some((line) => line.length > MAX_LINE_CHARS);
}

/** Returns the function that colours a text. `null` if the language is unknown, or not loaded yet. */
export function useTokenizer(language: string | null): Tokenizer | null {
  const [tokenizer, setTokenizer] = useState<{ of: Tokenizer | null }>({ of: loaded });
  useEffect(() => {
    if (!language || tokenizer.of) return;
    let isGone = false;
    // Without the file, as offline, the code has no colours.
    load().then((of) => isGone || setTokenizer({ of }), () => {});
    return () => {
      isGone = true;
    };
  }, [language]);
  const { of } = tokenizer;
  if (!language || !of) return null;
  return (name, text) => (isTooLong(text) ? [{ kind: null, text }] : of(name, text));
}

export function Tokens({ tokens }: { tokens: Token[] }) {
  return (
    <>
      {tokens.map(({ kind, text }, index) =>
        kind ? (
          <span key={index} class={`token-${kind}`}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </>
  );
}

/** The text of a code block. */
export function Code({ language, text }: { language: string | null; text: string }) {
  const tokenizer = useTokenizer(language);
  const hasTokenizer = tokenizer !== null;
  const tokens = useMemo(
    () => (tokenizer && language ? tokenizer(language, text) : [{ kind: null, text }]),
    [hasTokenizer, language, text],
  );
  return (
    <code>
      <Tokens tokens={tokens} />
    </code>
  );
}
