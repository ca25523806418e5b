// The extension: its parts, and how they are put together.

import * as vscode from "vscode";

import { reported, SessionActions } from "./actions.ts";
import { Conversations } from "./conversations.ts";
import { SessionList } from "./sessions.ts";
import { SessionTerminals } from "./terminals.ts";
import { SessionTree } from "./tree.ts";

export function activate(context: vscode.ExtensionContext): void {
  const list = new SessionList();
  const terminals = new SessionTerminals(list, context.workspaceState);
  const actions = new SessionActions(list, terminals);
  actions.conversations = new Conversations(list, context.extensionUri, context.workspaceState, {
    answer: (id) => void reported(() => actions.answer(id)),
    send: (id, text) => reported(() => actions.send(id, text)),
  });
  const settings = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration("segue.program")) list.connect();
  });
  const tree = new SessionTree(list);
  context.subscriptions.push(list, terminals, actions.conversations, tree, settings, ...actions.register());
  list.connect();
  void reported(() => Promise.all([terminals.restore(), actions.conversations.restore()]));
}
