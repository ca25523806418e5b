import { Fragment } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import {
  type DiffFile,
  type DiffLine,
  type ReviewComment,
  countLines,
  sideBySide,
} from "../../model/diff.ts";
import { type Token, languageOfFile, tokenLines } from "../../syntax/tokens.ts";
import { Tokens, useTokenizer } from "../../syntax/use.tsx";
import { fileAnchor } from "./file-list.tsx";

interface Props {
  file: DiffFile;
  isSideBySide: boolean;
  comments: ReviewComment[];
  /** `null` if this browser may not send. */
  onComment: ((comment: ReviewComment) => void) | null;
  onDrop: (comment: ReviewComment) => void;
}

// A file with more lines is folded at first, so that a page with many files stays quick.
const MAX_OPEN_LINES = 1500;

export function FileDiff(props: Props) {
  const { file } = props;
  const { added, removed } = countLines(file);
  const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const [isOpen, setOpen] = useState(lines <= MAX_OPEN_LINES);
  return (
    <section
      class="file-diff"
      id={fileAnchor(file.path)}
      tabIndex={-1}
      data-file
      aria-label={`Changes of ${file.path}`}
    >
      <header>
        <button
          class="button quiet small"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          aria-label={`${isOpen ? "Fold" : "Open"} ${file.path}`}
        >
          {isOpen ? "▾" : "▸"}
        </button>
        <code>
          {file.oldPath && `${file.oldPath} → `}
          {file.path}
        </code>
        {file.change !== "modified" && <span class="pill">{file.change}</span>}
        <span class="spacer" />
        <span class="counts">
          <span class="added-text">+{added}</span> <span class="removed-text">−{removed}</span>
        </span>
      </header>
      {isOpen && <Hunks {...props} />}
    </section>
  );
}

type LineColours = ReadonlyMap<DiffLine, Token[]>;

/** Colours the old and the new text of each hunk, and returns the parts of each line. */
function useColours(file: DiffFile): LineColours {
  const language = languageOfFile(file.path);
  const tokenizer = useTokenizer(language);
  return useMemo(() => {
    const colours = new Map<DiffLine, Token[]>();
    if (!tokenizer || !language) return colours;
    for (const { lines } of file.hunks) {
      for (const other of ["added", "removed"] as const) {
        const side = lines.filter((line) => line.kind !== other);
        const text = side.map((line) => line.text).join("\n");
        const coloured = tokenLines(tokenizer(language, text));
        side.forEach((line, index) => colours.set(line, coloured[index] ?? []));
      }
    }
    return colours;
  }, [file, tokenizer !== null]);
}

function LineText({ line, colours }: { line: DiffLine; colours: LineColours }) {
  const tokens = colours.get(line);
  return tokens ? <Tokens tokens={tokens} /> : <>{line.text}</>;
}

function Hunks(props: Props) {
  const [open, setOpen] = useState<DiffLine | null>(null);
  const colours = useColours(props.file);
  if (props.file.isBinary) return <p class="dim pad">Binary files differ.</p>;
  const commentOn = (line: DiffLine) => {
    if (props.onComment) setOpen(line === open ? null : line);
  };
  const after = (line: DiffLine | null) =>
    line && (
      <Comments {...props} line={line} isOpen={line === open} onClose={() => setOpen(null)} />
    );
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={`Lines of ${props.file.path}`}>
      <table class={props.isSideBySide ? "diff is-side" : "diff"}>
        <colgroup>
          <col class="number-column" />
          <col class={props.isSideBySide ? "" : "number-column"} />
          <col class={props.isSideBySide ? "number-column" : ""} />
          <col />
        </colgroup>
        {props.file.hunks.map((hunk, index) => (
          <tbody key={index}>
            <tr class="hunk">
              <td colSpan={4}>{hunk.header}</td>
            </tr>
            {props.isSideBySide
              ? sideBySide(hunk.lines).map(({ left, right }, row) => (
                  <Fragment key={row}>
                    <tr>
                      <Cells line={left} side="old" colours={colours} onClick={commentOn} />
                      <Cells line={right} side="new" colours={colours} onClick={commentOn} />
                    </tr>
                    {left !== right && left?.kind === "removed" && after(left)}
                    {after(right)}
                  </Fragment>
                ))
              : hunk.lines.map((line, row) => (
                  <Fragment key={row}>
                    <UnifiedRow line={line} colours={colours} onClick={commentOn} />
                    {after(line)}
                  </Fragment>
                ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

const SIGNS = { added: "+", removed: "−", context: " " } as const;

function LineButton(props: { line: DiffLine; number: number | null; onClick: () => void }) {
  const { line, number } = props;
  return (
    <button
      class="line-number"
      onClick={props.onClick}
      aria-label={`Comment on ${line.kind === "context" ? "" : `${line.kind} `}line ${number}`}
    >
      {number}
    </button>
  );
}

function Cells(props: {
  line: DiffLine | null;
  side: "old" | "new";
  colours: LineColours;
  onClick: (line: DiffLine) => void;
}) {
  const { line, side } = props;
  if (!line) return <td class="filler" colSpan={2} />;
  return (
    <>
      <td class={`number ${line.kind}`}>
        <LineButton line={line} number={line[side]} onClick={() => props.onClick(line)} />
      </td>
      <td class={`code ${line.kind}`}>
        <span class="sign">{SIGNS[line.kind]}</span>
        <LineText line={line} colours={props.colours} />
      </td>
    </>
  );
}

function UnifiedRow(props: {
  line: DiffLine;
  colours: LineColours;
  onClick: (line: DiffLine) => void;
}) {
  const { line, colours, onClick } = props;
  return (
    <tr>
      <td class={`number ${line.kind}`}>{line.old}</td>
      <td class={`number ${line.kind}`}>
        <LineButton line={line} number={line.new ?? line.old} onClick={() => onClick(line)} />
      </td>
      <td class={`code ${line.kind}`} colSpan={2}>
        <span class="sign">{SIGNS[line.kind]}</span>
        <LineText line={line} colours={colours} />
      </td>
    </tr>
  );
}

function Comments(props: Props & { line: DiffLine; isOpen: boolean; onClose: () => void }) {
  const { line, file } = props;
  const isRemoved = line.kind === "removed";
  const number = line.new ?? line.old ?? 0;
  const isOwn = (it: ReviewComment) =>
    it.line === number && it.isRemoved === isRemoved && it.code === line.text;
  const own = props.comments.filter(isOwn);
  if (own.length === 0 && !props.isOpen) return null;
  const save = (text: string) => {
    props.onComment?.({ path: file.path, line: number, isRemoved, code: line.text, text });
    props.onClose();
  };
  return (
    <tr class="comment-row">
      <td colSpan={4}>
        {own.map((comment) => (
          <div key={comment.text} class="comment">
            <p>{comment.text}</p>
            <button class="button quiet small" onClick={() => props.onDrop(comment)}>
              Remove
            </button>
          </div>
        ))}
        {props.isOpen && <CommentForm onSave={save} onCancel={props.onClose} />}
      </td>
    </tr>
  );
}

function CommentForm(props: { onSave: (text: string) => void; onCancel: () => void }) {
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  // The focus returns to the line, so that the keyboard continues there.
  useLayoutEffect(() => {
    const before = document.activeElement;
    field.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const save = () => text.trim() && props.onSave(text);
  return (
    <form
      class="comment-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        rows={2}
        aria-label="Comment on this line"
        placeholder="Comment; it is sent with the review"
        value={text}
        ref={field}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") props.onCancel();
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        }}
      />
      <span class="row-of-buttons">
        <button class="button primary small">Add comment</button>
        <button class="button quiet small" type="button" onClick={props.onCancel}>
          Cancel
        </button>
      </span>
    </form>
  );
}
