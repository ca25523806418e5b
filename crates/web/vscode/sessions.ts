// The list of sessions, as `segue ls --watch` reports it. Nothing polls: the program prints a line
// whenever a session changes.

import { homedir } from "node:os";
import * as vscode from "vscode";

import type { ListedSession } from "./model.ts";
import { findProgram, run, SegueFailure, stream, type RunningStream } from "./program.ts";

/** How current the list is. `stale`: the daemon has ended. */
export type ListState = "connecting" | "connected" | "stale" | "missing" | "failed";

type WatchLine =
  | { daemon: "running" | "ended" }
  | { session: string; outcome: "gone" }
  | (ListedSession & { outcome?: undefined });

export class SessionList implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly byId = new Map<string, ListedSession>();
  private watch: RunningStream | null = null;
  state: ListState = "connecting";
  failure: SegueFailure | null = null;
  readonly onDidChange = this.changed.event;

  /** Starts to follow the sessions, also again after a failure. */
  connect(): void {
    this.watch?.stop();
    this.byId.clear();
    this.become("connecting");
    try {
      this.watch = stream(this.program(), ["ls", "--watch"], {
        onLine: (line) => this.read(line as WatchLine),
        onEnd: (failure) => this.become("failed", failure),
      });
    } catch (error) {
      this.become("missing", error as SegueFailure);
    }
  }

  dispose(): void {
    this.watch?.stop();
    this.changed.dispose();
  }

  /** Returns the path of the program. Throws a `SegueFailure` if there is none. */
  program(): string {
    const found = findProgram(programName(), process.env["PATH"], homedir());
    if (found) return found;
    const hint = "install Segue, or set `segue.program` to the absolute path of the program";
    throw new SegueFailure(`the program \`${programName()}\` was not found`, [hint]);
  }

  /** Runs a command of Segue. */
  run(words: string[], input?: string): Promise<unknown> {
    return run(this.program(), words, input);
  }

  get sessions(): ListedSession[] {
    return [...this.byId.values()];
  }

  get(id: string): ListedSession | undefined {
    return this.byId.get(id);
  }

  /** Returns all sessions, also those that ended long ago, which the list leaves out. */
  async all(): Promise<ListedSession[]> {
    const { sessions } = (await this.run(["ls", "--all"])) as { sessions: ListedSession[] };
    return sessions;
  }

  private read(line: WatchLine): void {
    if ("daemon" in line) return this.become(line.daemon === "running" ? "connected" : "stale");
    if (line.outcome === "gone") this.byId.delete(line.session);
    else this.byId.set(line.session, line);
    this.changed.fire();
  }

  private become(state: ListState, failure: SegueFailure | null = null): void {
    this.state = state;
    this.failure = failure;
    void vscode.commands.executeCommand("setContext", "segue.state", state);
    this.changed.fire();
  }
}

/**
 * Returns the setting of the user or of the machine. The editor ignores this setting in a workspace
 * as soon as it knows the extension; it is left out here, too, so that no moment is left.
 */
function programName(): string {
  const setting = vscode.workspace.getConfiguration("segue").inspect<string>("program");
  return setting?.globalValue || "segue";
}
