// Connects a screen with the stream of an agent's terminal, and connects again after a break.

import { notify } from "../parts/toast.tsx";
import type { TerminalScreen } from "./screen.ts";
import { type ScrollbackPage, type TerminalSize, TerminalSocket } from "./socket.ts";

export interface StreamState {
  isConnected: boolean;
  isControlling: boolean;
  hasPainted: boolean;
  controllers: number;
  viewers: number;
  latency: number | null;
  ended: string | null;
  canLoadOlder: boolean;
}

export interface Stream {
  setAccess(access: "view" | "control"): void;
  fitToWindow(): void;
  loadOlder(): void;
  find(text: string, isBackwards: boolean): void;
  text(): string;
  close(): void;
}

const FIRST_SCROLLBACK_LINES = 1000;
const MORE_SCROLLBACK_LINES = 4000;
const MAX_RETRY_MS = 5000;

/** Opens a stream that watches. The terminal's code is loaded when it is needed first. */
export async function openStream(
  session: string,
  host: HTMLElement,
  onState: (state: StreamState) => void,
): Promise<Stream> {
  const { TerminalScreen } = await import("./screen.ts");
  return new ConnectedStream(session, host, TerminalScreen, onState);
}

class ConnectedStream implements Stream {
  private socket: TerminalSocket | null = null;
  private readonly screen: TerminalScreen;
  private state: StreamState = {
    isConnected: false,
    isControlling: false,
    hasPainted: false,
    controllers: 0,
    viewers: 0,
    latency: null,
    ended: null,
    canLoadOlder: false,
  };
  private size: TerminalSize | null = null;
  private oldestLine: number | null = null;
  private retryMs = 250;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly cleanups: (() => void)[] = [];

  constructor(
    private readonly session: string,
    host: HTMLElement,
    Screen: typeof TerminalScreen,
    private readonly onState: (state: StreamState) => void,
  ) {
    this.screen = new Screen(host, () => this.socket?.repaint());
    const { terminal } = this.screen;
    terminal.onData((text) => this.state.isControlling && this.socket?.input(text));
    terminal.onBinary((text) => {
      if (this.state.isControlling) {
        this.socket?.inputBytes(Uint8Array.from(text, (it) => it.charCodeAt(0)));
      }
    });
    terminal.attachCustomKeyEventHandler((event) => !this.releases(event));
    const observer = new ResizeObserver(() => this.screen.fitFont());
    observer.observe(host);
    this.cleanups.push(() => observer.disconnect());
    this.followTheme();
    this.connect();
  }

  setAccess(access: "view" | "control"): void {
    this.change({ isControlling: access === "control" });
    const { terminal } = this.screen;
    terminal.options.disableStdin = access === "view";
    terminal.options.cursorBlink = false;
    this.connect();
    if (access === "control") terminal.focus();
  }

  /** Ctrl-\ releases control, as it does in `segue attach`: all other keys go to the agent. */
  private releases(event: KeyboardEvent): boolean {
    if (!event.ctrlKey || event.key !== "\\" || !this.state.isControlling) return false;
    event.preventDefault();
    this.setAccess("view");
    this.screen.terminal.blur();
    return true;
  }

  fitToWindow(): void {
    const size = this.screen.windowSize();
    this.size = size;
    this.socket?.resize(size);
  }

  loadOlder(): void {
    if (this.oldestLine !== null) this.socket?.scrollback(MORE_SCROLLBACK_LINES, this.oldestLine);
  }

  find(text: string, isBackwards: boolean): void {
    if (!text) return;
    if (isBackwards) this.screen.search.findPrevious(text);
    else this.screen.search.findNext(text);
  }

  text(): string {
    return this.screen.text();
  }

  close(): void {
    clearTimeout(this.retryTimer);
    this.socket?.close();
    for (const cleanup of this.cleanups) cleanup();
    this.screen.dispose();
  }

  private followTheme(): void {
    const apply = () => this.screen.setTheme();
    const query = matchMedia("(prefers-color-scheme: dark)");
    query.addEventListener("change", apply);
    const observer = new MutationObserver(apply);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.cleanups.push(() => query.removeEventListener("change", apply));
    this.cleanups.push(() => observer.disconnect());
  }

  private connect(): void {
    clearTimeout(this.retryTimer);
    this.socket?.close();
    const access = this.state.isControlling ? "control" : "view";
    this.oldestLine = null;
    this.socket = new TerminalSocket(this.session, access, this.size, {
      snapshot: (size, painted) => this.paint(size, painted),
      output: (bytes) => this.screen.write(bytes),
      clients: (controllers, viewers) => this.change({ controllers, viewers }),
      scrollback: (page) => this.addOlder(page),
      refused: (message) => this.refused(message),
      ended: (how) => this.change({ ended: how }),
      latency: (latency) => this.change({ latency }),
      closed: () => this.lost(),
    });
  }

  private paint(size: TerminalSize, painted: Uint8Array): void {
    this.retryMs = 250;
    this.size = size;
    this.screen.paint(size, painted);
    this.change({ isConnected: true, hasPainted: true, ended: null });
    if (this.oldestLine === null) {
      // Asked for once after each connection; -1 until the answer arrives.
      this.oldestLine = -1;
      this.socket?.scrollback(FIRST_SCROLLBACK_LINES, null);
    }
  }

  private addOlder(page: ScrollbackPage): void {
    this.oldestLine = page.first;
    this.change({ canLoadOlder: page.first > 0 && !page.alternate });
    if (page.alternate) return;
    this.screen.addOlder(page);
    if (this.screen.hasOlder) this.socket?.repaint();
  }

  private refused(message: string): void {
    notify(message, true);
  }

  private lost(): void {
    this.change({ isConnected: false });
    if (this.state.ended !== null) return;
    this.retryTimer = setTimeout(() => this.connect(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 2, MAX_RETRY_MS);
  }

  private change(change: Partial<StreamState>): void {
    this.state = { ...this.state, ...change };
    this.onState(this.state);
  }
}
