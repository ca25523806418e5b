// Terminals that run `segue attach`. The extension opens them again after a restart of the window,
// the editor or the machine; the editor's own restoring would show a dead screen.

import { homedir } from "node:os";
import * as vscode from "vscode";

import { isSessionId, plain } from "./model.ts";
import type { SessionList } from "./sessions.ts";

const OPEN_TERMINALS = "segue.terminals";

export class SessionTerminals implements vscode.Disposable {
  private readonly byId = new Map<string, vscode.Terminal>();
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly list: SessionList,
    private readonly memory: vscode.Memento,
  ) {
    this.subscription = vscode.window.onDidCloseTerminal((terminal) => this.forget(terminal));
  }

  dispose(): void {
    this.subscription.dispose();
  }

  /** Shows the terminal of a session. Opens it if this window does not have it. */
  open(id: string, name: string, preserveFocus = false): void {
    const terminal = this.byId.get(id) ?? this.create(id, name);
    terminal.show(preserveFocus);
  }

  /** Opens the terminals that were open when this window was closed. */
  async restore(): Promise<void> {
    const ids = this.memory.get<unknown[]>(OPEN_TERMINALS, []).filter(isSessionId);
    if (ids.length === 0) return;
    const sessions = await this.list.all();
    const known = sessions.filter((it) => ids.includes(it.session));
    for (const { session, address } of known) this.open(session, address, true);
    this.remember();
  }

  private create(id: string, name: string): vscode.Terminal {
    const terminal = vscode.window.createTerminal({
      name: plain(name),
      shellPath: this.list.program(),
      shellArgs: ["attach", id],
      cwd: homedir(),
      isTransient: true,
    });
    this.byId.set(id, terminal);
    this.remember();
    return terminal;
  }

  /** A terminal that was closed by a person or by its program is not opened again. */
  private forget(closed: vscode.Terminal): void {
    if (closed.exitStatus?.reason === vscode.TerminalExitReason.Shutdown) return;
    for (const [id, terminal] of this.byId) if (terminal === closed) this.byId.delete(id);
    this.remember();
  }

  private remember(): void {
    void this.memory.update(OPEN_TERMINALS, [...this.byId.keys()]);
  }
}

/**
 * Runs `segue resume` in a terminal, so that the agent gets the environment of the user's terminals.
 * Resolves to whether it succeeded.
 */
export function resume(program: string, id: string, name: string): Promise<boolean> {
  const terminal = vscode.window.createTerminal({
    name: plain(`resume ${name}`),
    shellPath: program,
    shellArgs: ["resume", id],
    cwd: homedir(),
    isTransient: true,
  });
  terminal.show(true);
  return new Promise((resolve) => {
    const subscription = vscode.window.onDidCloseTerminal((closed) => {
      if (closed !== terminal) return;
      subscription.dispose();
      resolve(closed.exitStatus?.code === 0);
    });
  });
}
