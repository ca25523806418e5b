// Elements for a tree of Markdown. Texts become text nodes only.

import { type ComponentChildren, h } from "preact";
import { useMemo } from "preact/hooks";

import { type Block, type Inline, type ListItem, parseMarkdown } from "../model/markdown.ts";
import { languageOf } from "../syntax/tokens.ts";
import { Code } from "../syntax/use.tsx";
import { CopyButton } from "./copy.tsx";

export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  return <div class="markdown">{blocks.map(renderBlock)}</div>;
}

function renderBlock(block: Block, key: number): ComponentChildren {
  switch (block.type) {
    case "paragraph":
      return <p key={key}>{block.children.map(renderInline)}</p>;
    case "heading": {
      // The page has its own headings above those of a text.
      const level = Math.min(block.level + 2, 6);
      return h(`h${level}`, { key }, block.children.map(renderInline));
    }
    case "code":
      return <CodeBlock key={key} language={block.language} text={block.text} />;
    case "quote":
      return <blockquote key={key}>{block.children.map(renderBlock)}</blockquote>;
    case "list": {
      const items = block.items.map(renderItem);
      if (!block.isOrdered) return <ul key={key}>{items}</ul>;
      return (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      );
    }
    case "table":
      return <Table key={key} header={block.header} rows={block.rows} />;
    case "rule":
      return <hr key={key} />;
  }
}

function renderItem({ isChecked, children }: ListItem, key: number): ComponentChildren {
  const [only] = children;
  const isTight = children.length === 1 && only?.type === "paragraph";
  return (
    <li key={key} class={isChecked === null ? "" : "is-check"}>
      {isChecked !== null && (
        <span class="check" role="img" aria-label={isChecked ? "done" : "open"}>
          {isChecked ? "☑" : "☐"}
        </span>
      )}
      {isTight ? only.children.map(renderInline) : children.map(renderBlock)}
    </li>
  );
}

function Table({ header, rows }: { header: Inline[][]; rows: Inline[][][] }) {
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index}>{cell.map(renderInline)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{cell.map(renderInline)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function CodeBlock({ language, text }: { language: string; text: string }) {
  return (
    <div class="code-block">
      <div class="code-head">
        <span>{language || "text"}</span>
        <CopyButton text={text} label="Copy the code" words="Copy" />
      </div>
      <pre tabIndex={0} aria-label="Code">
        <Code language={languageOf(language)} text={text} />
      </pre>
    </div>
  );
}

function renderInline(inline: Inline, key: number): ComponentChildren {
  switch (inline.type) {
    case "text":
      return inline.text;
    case "code":
      return <code key={key}>{inline.text}</code>;
    case "strong":
      return <strong key={key}>{inline.children.map(renderInline)}</strong>;
    case "emphasis":
      return <em key={key}>{inline.children.map(renderInline)}</em>;
    case "deleted":
      return <del key={key}>{inline.children.map(renderInline)}</del>;
    case "link":
      return (
        <a key={key} href={inline.href} target="_blank" rel="noopener noreferrer">
          {inline.children.map(renderInline)}
        </a>
      );
    case "break":
      return <br key={key} />;
  }
}
