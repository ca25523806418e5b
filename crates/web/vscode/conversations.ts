// Conversations as chats. The panel only draws: its script gets turns and sends words back.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

import { statusLook } from "../page/model/status.ts";
import { isSessionId, plain, statusText } from "./model.ts";
import { stream, type RunningStream } from "./program.ts";
import type { SessionList } from "./sessions.ts";
import type { FromPanel, ShownSession, ToPanel } from "./webview/messages.ts";

const VIEW_TYPE = "segue.conversation";
const OPEN_CONVERSATIONS = "segue.conversations";

/** A panel shows this many turns of an old conversation. */
const LAST_TURNS = 200;

export interface PanelActions {
  answer(id: string): void;
  send(id: string, text: string): Promise<boolean>;
}

/** What is remembered of an open panel. */
interface OpenPanel {
  session: string;
  column: number;
  draft: string;
}

/**
 * The open conversations. They are recorded here and not by the editor's own restoring, which loses
 * panels that were opened in the last seconds before a window was closed.
 */
export class Conversations implements vscode.Disposable {
  private readonly panels = new Map<string, ConversationPanel>();
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly list: SessionList,
    private readonly home: vscode.Uri,
    private readonly memory: vscode.Memento,
    private readonly actions: PanelActions,
  ) {
    this.subscription = list.onDidChange(() => this.panels.forEach((panel) => panel.update()));
  }

  dispose(): void {
    this.subscription.dispose();
    for (const panel of this.panels.values()) panel.stop();
  }

  /** Shows the conversation of a session. */
  open(id: string, name: string): void {
    const shown = this.panels.get(id);
    if (shown) shown.reveal();
    else this.create({ session: id, column: vscode.ViewColumn.Active, draft: "" }, name, false);
  }

  /** Opens the conversations that were open when this window was closed. */
  async restore(): Promise<void> {
    const open = this.memory.get<unknown[]>(OPEN_CONVERSATIONS, []).filter(isOpenPanel);
    if (open.length === 0) return;
    const names = new Map((await this.list.all()).map((it) => [it.session, it.address]));
    for (const panel of open) {
      const name = names.get(panel.session);
      if (name && !this.panels.has(panel.session)) this.create(panel, name, true);
    }
    this.remember();
  }

  private create({ session, column, draft }: OpenPanel, name: string, preserveFocus: boolean): void {
    const place = { viewColumn: column, preserveFocus };
    const panel = vscode.window.createWebviewPanel(VIEW_TYPE, plain(name), place);
    const shown = new ConversationPanel(panel, { session, draft }, this.list, this.actions);
    this.panels.set(session, shown);
    shown.onDidChange(() => this.remember());
    panel.onDidDispose(() => {
      shown.stop();
      this.panels.delete(session);
      this.remember();
    });
    shown.load(vscode.Uri.joinPath(this.home, "webview"));
    this.remember();
  }

  private remember(): void {
    void this.memory.update(OPEN_CONVERSATIONS, [...this.panels.values()].map((it) => it.state));
  }
}

function isOpenPanel(value: unknown): value is OpenPanel {
  const { session, column, draft } = (value ?? {}) as Record<string, unknown>;
  return isSessionId(session) && typeof column === "number" && typeof draft === "string";
}

class ConversationPanel {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly id: string;
  private draft: string;
  private turns: RunningStream | null = null;
  /** The column or the draft has changed. */
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly panel: vscode.WebviewPanel,
    { session, draft }: Omit<OpenPanel, "column">,
    private readonly list: SessionList,
    private readonly actions: PanelActions,
  ) {
    this.id = session;
    this.draft = draft;
    panel.webview.onDidReceiveMessage((message: FromPanel) => this.receive(message));
    panel.onDidChangeViewState(() => {
      // A hidden panel has no page. Its page asks again when it is shown.
      if (!panel.visible) this.stop();
      this.changed.fire();
    });
  }

  get state(): OpenPanel {
    const column = this.panel.viewColumn ?? vscode.ViewColumn.Active;
    return { session: this.id, column, draft: this.draft };
  }

  load(folder: vscode.Uri): void {
    const { webview } = this.panel;
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    webview.html = page(webview, folder);
  }

  reveal(): void {
    this.panel.reveal();
  }

  stop(): void {
    this.turns?.stop();
    this.turns = null;
  }

  /** Shows the status again. A conversation that could not be read is tried again. */
  update(): void {
    const session = this.list.get(this.id);
    if (session) this.panel.title = plain(session.address);
    this.post({ type: "session", session: session ? shownSession(session) : null });
    if (!this.turns && this.panel.visible && session) this.follow();
  }

  private receive(message: FromPanel): void {
    if (message.type === "ready") {
      this.post({ type: "draft", text: this.draft });
      this.follow();
      this.update();
    } else if (message.type === "draft" && typeof message.text === "string") {
      this.write(message.text);
    } else if (message.type === "answer") {
      this.actions.answer(this.id);
    } else if (message.type === "send" && typeof message.text === "string") {
      void this.send(message.text);
    }
  }

  private async send(text: string): Promise<void> {
    if (!(await this.actions.send(this.id, text))) return;
    this.write("");
    this.post({ type: "draft", text: "" });
  }

  private write(draft: string): void {
    this.draft = draft;
    this.changed.fire();
  }

  private follow(): void {
    this.stop();
    this.post({ type: "restart" });
    const words = ["show", this.id, "--follow", "--last", `${LAST_TURNS}`];
    try {
      this.turns = stream(this.list.program(), words, {
        onLine: (turn) => this.post({ type: "turn", turn: turn as never }),
        onEnd: (failure) => {
          this.turns = null;
          this.post({ type: "failure", text: failure.text });
        },
      });
    } catch (error) {
      this.post({ type: "failure", text: (error as Error).message });
    }
  }

  private post(message: ToPanel): void {
    void this.panel.webview.postMessage(message);
  }
}

function shownSession(session: Parameters<typeof statusText>[0]): ShownSession {
  return {
    address: session.address,
    symbol: statusLook(session.status).symbol,
    status: statusText(session),
    question: session.dialog?.question ?? null,
    choices: session.dialog?.choices ?? [],
  };
}

/** The page of a panel. It has no text of an agent: its script shows texts as text nodes. */
function page(webview: vscode.Webview, folder: vscode.Uri): string {
  const nonce = randomBytes(16).toString("hex");
  const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${file("conversation.css")}">
<title>Conversation</title>
<header id="status" role="status"></header>
<main id="turns" aria-label="Conversation"></main>
<p id="failure" role="alert" hidden></p>
<section id="question" aria-label="Question" hidden>
  <p id="asked"></p>
  <ol id="choices"></ol>
  <button id="answer" type="button">Answer…</button>
</section>
<form id="form">
  <textarea id="message" rows="2" aria-label="Message" placeholder="Message (Ctrl+Enter sends it)"></textarea>
  <button type="submit">Send</button>
</form>
<script nonce="${nonce}" src="${file("conversation.js")}"></script>
</html>`;
}
