// A stream of an agent's terminal over a WebSocket.

import { pageProtocols } from "../api/page-key.ts";

export interface TerminalSize {
  rows: number;
  columns: number;
}

export interface ScrollbackPage {
  /** The number of the first line. The oldest line has the number 0. */
  first: number;
  lines: string[];
  total: number;
  has_forgotten: boolean;
  alternate: boolean;
}

export interface TerminalHandlers {
  /** The bytes draw the whole screen. */
  snapshot(size: TerminalSize, painted: Uint8Array): void;
  output(bytes: Uint8Array): void;
  clients(controllers: number, viewers: number): void;
  scrollback(page: ScrollbackPage): void;
  refused(message: string): void;
  ended(how: string): void;
  latency(milliseconds: number): void;
  closed(): void;
}

type ServerMessage =
  | ({ type: "snapshot" } & TerminalSize)
  | { type: "clients"; controllers: number; viewers: number }
  | { type: "uses"; alternate: boolean; mouse: boolean }
  | ({ type: "scrollback" } & ScrollbackPage)
  | { type: "refused"; message: string }
  | { type: "ended"; how: string }
  | { type: "pong"; id: number };

// Measuring the latency more often than this would only cost.
const PING_INTERVAL_MS = 2000;

// More than a person types while a connection opens.
const MAX_UNSENT_MESSAGES = 1000;

export class TerminalSocket {
  private readonly socket: WebSocket;
  private nextIsSnapshot: TerminalSize | null = null;
  private unsent: (string | Uint8Array<ArrayBuffer>)[] = [];
  private pings = new Map<number, number>();
  private lastPing = -PING_INTERVAL_MS;

  constructor(
    session: string,
    access: "view" | "control",
    size: TerminalSize | null,
    private readonly handlers: TerminalHandlers,
  ) {
    const url = new URL(`/v1/sessions/${encodeURIComponent(session)}/terminal`, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("access", access);
    url.searchParams.set("rows", String(size?.rows ?? 24));
    url.searchParams.set("columns", String(size?.columns ?? 80));
    this.socket = new WebSocket(url, pageProtocols());
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.opened();
    this.socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    this.socket.onclose = () => handlers.closed();
  }

  /** Types text into the agent's terminal. */
  input(text: string): void {
    this.send(new TextEncoder().encode(text));
    this.ping();
  }

  inputBytes(bytes: Uint8Array<ArrayBuffer>): void {
    this.send(bytes);
  }

  resize(size: TerminalSize): void {
    this.say({ type: "resize", ...size });
  }

  repaint(): void {
    this.say({ type: "repaint" });
  }

  scrollback(count: number, before: number | null): void {
    const range = before === null ? { count } : { count, before };
    this.say({ type: "scrollback", ...range });
  }

  close(): void {
    this.socket.onclose = null;
    this.socket.onmessage = null;
    this.socket.close();
  }

  private ping(): void {
    const now = performance.now();
    if (now - this.lastPing < PING_INTERVAL_MS) return;
    this.lastPing = now;
    const id = Math.floor(now);
    this.pings.set(id, now);
    this.say({ type: "ping", id });
  }

  private say(message: object): void {
    this.send(JSON.stringify(message));
  }

  private send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(data);
    // Keys that are typed while the connection opens, as after "Take control", are not lost.
    else if (this.isOpening && this.unsent.length < MAX_UNSENT_MESSAGES) this.unsent.push(data);
  }

  private get isOpening(): boolean {
    return this.socket.readyState === WebSocket.CONNECTING;
  }

  private opened(): void {
    for (const data of this.unsent.splice(0)) this.socket.send(data);
    this.ping();
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data === "string") this.receiveMessage(JSON.parse(data) as ServerMessage);
    else this.receiveBytes(new Uint8Array(data));
  }

  private receiveBytes(bytes: Uint8Array): void {
    const size = this.nextIsSnapshot;
    this.nextIsSnapshot = null;
    if (size) this.handlers.snapshot(size, bytes);
    else this.handlers.output(bytes);
  }

  private receiveMessage(message: ServerMessage): void {
    switch (message.type) {
      case "snapshot":
        this.nextIsSnapshot = { rows: message.rows, columns: message.columns };
        break;
      case "clients":
        this.handlers.clients(message.controllers, message.viewers);
        break;
      case "scrollback":
        this.handlers.scrollback(message);
        break;
      case "refused":
        this.handlers.refused(message.message);
        break;
      case "ended":
        this.handlers.ended(message.how);
        break;
      case "pong": {
        const sent = this.pings.get(message.id);
        this.pings.delete(message.id);
        if (sent !== undefined) this.handlers.latency(performance.now() - sent);
        break;
      }
      case "uses":
        break;
    }
  }
}
