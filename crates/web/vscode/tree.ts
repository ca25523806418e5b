// The view of sessions.

import * as vscode from "vscode";

import { isResumable, statusLook } from "../page/model/status.ts";
import { groupsOf, hasTerminal, NEEDS_YOU, plain, statusText, waitingSessions } from "./model.ts";
import type { ListedSession, SessionGroup } from "./model.ts";
import type { ListState, SessionList } from "./sessions.ts";

/** A session in a group of the view. A session that needs a person is in two groups. */
export interface SessionRow {
  session: ListedSession;
  group: string;
}

type Row = SessionGroup | SessionRow;

const STALE = "The daemon has ended, so this list may be old. Any command of Segue starts it again.";

export class SessionTree implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  private readonly redraw = new vscode.EventEmitter<Row | undefined>();
  private readonly view: vscode.TreeView<Row>;
  private readonly subscription: vscode.Disposable;
  private groups: SessionGroup[] = [];
  private rows = new Map<string, SessionRow[]>();
  readonly onDidChangeTreeData = this.redraw.event;

  constructor(private readonly list: SessionList) {
    this.view = vscode.window.createTreeView("segue.sessions", { treeDataProvider: this });
    this.subscription = list.onDidChange(() => this.show());
  }

  dispose(): void {
    this.subscription.dispose();
    this.view.dispose();
    this.redraw.dispose();
  }

  getChildren(row?: Row): Row[] {
    if (!row) return this.groups;
    return "session" in row ? [] : (this.rows.get(row.id) ?? []);
  }

  getTreeItem(row: Row): vscode.TreeItem {
    return "session" in row ? sessionItem(row) : groupItem(row);
  }

  private show(): void {
    const { state, failure } = this.list;
    const count = waitingSessions(this.list.sessions).length;
    const tooltip = count === 1 ? "1 session needs you" : `${count} sessions need you`;
    this.view.badge = count > 0 ? { value: count, tooltip } : undefined;
    this.view.message = messageOf(state, failure?.text ?? "");
    const groups = groupsOf(this.list.sessions);
    if (layoutOf(groups) === layoutOf(this.groups)) this.update();
    else this.replace(groups);
  }

  private replace(groups: SessionGroup[]): void {
    const rowsOf = ({ id, sessions }: SessionGroup) => sessions.map((session) => ({ session, group: id }));
    this.groups = groups;
    this.rows = new Map(groups.map((it) => [it.id, rowsOf(it)]));
    this.redraw.fire(undefined);
  }

  /** Draws the rows again whose sessions have changed. The others can be used meanwhile. */
  private update(): void {
    for (const row of [...this.rows.values()].flat()) {
      const session = this.list.get(row.session.session);
      if (!session || session === row.session) continue;
      row.session = session;
      this.redraw.fire(row);
    }
  }
}

/** Returns a text that is the same if the same rows are in the same places. */
function layoutOf(groups: SessionGroup[]): string {
  return JSON.stringify(groups.map((it) => [it.id, it.description, it.sessions.map(({ session }) => session)]));
}

/** Returns the line above the sessions. The editor has a text of its own for a missing program. */
function messageOf(state: ListState, failure: string): string {
  if (state === "stale") return STALE;
  return state === "failed" ? plain(`The sessions cannot be read: ${failure}`) : "";
}

function groupItem(group: SessionGroup): vscode.TreeItem {
  const item = new vscode.TreeItem(plain(group.label), vscode.TreeItemCollapsibleState.Expanded);
  item.id = `group:${group.id}`;
  item.description = plain(group.description);
  item.tooltip = plain(group.description || group.label);
  return item;
}

function sessionItem({ session, group }: SessionRow): vscode.TreeItem {
  const { symbol } = statusLook(session.status);
  const name = group === NEEDS_YOU ? session.address : session.name;
  const status = plain(statusText(session));
  const item = new vscode.TreeItem(`${symbol} ${plain(name)}`);
  item.id = `${group}:${session.session}`;
  item.description = status;
  item.tooltip = plain(`${session.address} (${session.vendor}): ${status}, ${session.cwd}`);
  item.accessibilityInformation = { label: `${plain(session.address)}, ${status}` };
  item.contextValue = abilities(session).join(" ");
  item.command = { command: "segue.openConversation", title: "Open Conversation", arguments: [{ session, group }] };
  return item;
}

/** Returns the words by which the menus decide which commands they show. */
function abilities(session: ListedSession): string[] {
  const words = ["session"];
  if (session.dialog) words.push("asks");
  if (hasTerminal(session)) words.push("terminal");
  if (isResumable(session)) words.push("resumable");
  return words;
}
