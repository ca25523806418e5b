// xterm.js with what this page needs: the agent's size, a font that fits the width, older lines.

import { SearchAddon } from "@xterm/addon-search";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal } from "@xterm/xterm";

import { withAllowedStyles } from "./allowed-styles.ts";
import type { ScrollbackPage, TerminalSize } from "./socket.ts";
import { terminalTheme } from "./theme.ts";

const MIN_FONT_PX = 7;
const MAX_FONT_PX = 16;
const SCROLLBACK_LINES = 20_000;
// Output beyond this is dropped until the terminal has drawn the rest; then it is drawn anew.
const MAX_WAITING_BYTES = 4_000_000;

export class TerminalScreen {
  readonly terminal: Terminal;
  readonly search = new SearchAddon();
  private waitingBytes = 0;
  private hasDropped = false;
  private older: string[] = [];
  private size: TerminalSize = { rows: 24, columns: 80 };

  constructor(
    private readonly parent: HTMLElement,
    private readonly requestRepaint: () => void,
  ) {
    this.terminal = new Terminal({
      fontFamily: "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace",
      fontSize: 13,
      scrollback: SCROLLBACK_LINES,
      allowProposedApi: true,
      disableStdin: true,
      cursorInactiveStyle: "outline",
      theme: terminalTheme(),
      minimumContrastRatio: 4.5,
      // Only this page may open links, and only those of the web.
      linkHandler: { activate: (_, text) => openLink(text) },
    });
    this.terminal.loadAddon(this.search);
    this.terminal.loadAddon(new WebLinksAddon((_, text) => openLink(text)));
    withAllowedStyles(() => this.terminal.open(parent));
  }

  /** Draws the whole screen. Lines of the scrollback stay. */
  paint(size: TerminalSize, painted: Uint8Array): void {
    this.setSize(size);
    this.terminal.reset();
    if (this.older.length > 0) {
      const blank = "\r\n".repeat(size.rows);
      this.terminal.write(`${this.older.join("\r\n")}${blank}`);
    }
    this.hasDropped = false;
    this.write(painted);
  }

  write(bytes: Uint8Array): void {
    if (this.waitingBytes > MAX_WAITING_BYTES) {
      this.hasDropped = true;
      return;
    }
    this.waitingBytes += bytes.length;
    this.terminal.write(bytes, () => {
      this.waitingBytes -= bytes.length;
      if (this.hasDropped && this.waitingBytes === 0) this.requestRepaint();
    });
  }

  /** Puts older lines above the screen. The screen has to be painted again. */
  addOlder(page: ScrollbackPage): void {
    const isNewest = page.first + page.lines.length >= page.total;
    // The newest lines are those of the screen, which a snapshot draws.
    const above = isNewest ? page.lines.slice(0, -this.size.rows) : page.lines;
    this.older = isNewest ? above : [...above, ...this.older];
  }

  get hasOlder(): boolean {
    return this.older.length > 0;
  }

  setSize(size: TerminalSize): void {
    this.size = size;
    if (this.terminal.rows !== size.rows || this.terminal.cols !== size.columns) {
      this.terminal.resize(size.columns, size.rows);
    }
    this.fitFont();
  }

  /** Chooses the font with which the agent's columns fill the width. */
  fitFont(): void {
    const width = this.parent.clientWidth;
    if (width === 0) return;
    const ratio = characterRatio();
    // The scroll bar and the padding of the terminal.
    const available = width - 18;
    const wanted = Math.floor((available / (this.size.columns * ratio)) * 4) / 4;
    const font = Math.max(MIN_FONT_PX, Math.min(MAX_FONT_PX, wanted));
    if (this.terminal.options.fontSize !== font) this.terminal.options.fontSize = font;
  }

  /** Returns the number of rows and columns that fill the window with a readable font. */
  windowSize(): TerminalSize {
    const font = 13;
    const columns = Math.floor((this.parent.clientWidth - 18) / (font * characterRatio()));
    const top = this.parent.getBoundingClientRect().top;
    const rows = Math.floor((innerHeight - top - 16) / (font * 1.2));
    return { rows: Math.max(10, rows), columns: Math.max(20, columns) };
  }

  /** Returns all lines as text. */
  text(): string {
    const buffer = this.terminal.buffer.active;
    const lines: string[] = [];
    for (let index = 0; index < buffer.length; index++) {
      const line = buffer.getLine(index);
      const text = line?.translateToString(true) ?? "";
      if (line?.isWrapped && lines.length > 0) lines[lines.length - 1] += text;
      else lines.push(text);
    }
    return lines.join("\n").trimEnd();
  }

  setTheme(): void {
    this.terminal.options.theme = terminalTheme();
  }

  dispose(): void {
    this.terminal.dispose();
  }
}

let ratio = 0;

/** Returns the width of a character of the terminal's font, divided by the font's size. */
function characterRatio(): number {
  if (ratio > 0) return ratio;
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return 0.6;
  context.font = "100px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
  ratio = context.measureText("W").width / 100 || 0.6;
  return ratio;
}

function openLink(text: string): void {
  if (/^https?:\/\//i.test(text)) window.open(text, "_blank", "noopener,noreferrer");
}
