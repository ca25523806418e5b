// The commands: what a person can do with a session.

import * as vscode from "vscode";

import { isResumable } from "../page/model/status.ts";
import type { Conversations } from "./conversations.ts";
import { addressOf, choicesOf, findSession, hasTerminal, idInPath, plain, wrapped } from "./model.ts";
import type { Choice, ListedSession } from "./model.ts";
import { SegueFailure } from "./program.ts";
import type { SessionList } from "./sessions.ts";
import { resume, type SessionTerminals } from "./terminals.ts";
import type { SessionRow } from "./tree.ts";

/** A question is broken into lines of this length: a list cuts longer ones off. */
const QUESTION_COLUMNS = 80;

type AnswerItem = vscode.QuickPickItem & { choice?: Choice };

export class SessionActions {
  conversations!: Conversations;

  constructor(
    private readonly list: SessionList,
    private readonly terminals: SessionTerminals,
  ) {}

  /** Registers the commands. A failure of a command is shown with what to do. */
  register(): vscode.Disposable[] {
    const commands: Record<string, (row?: SessionRow) => unknown> = {
      "segue.openConversation": (row) => this.on(row, () => true, (it) => this.show(it)),
      "segue.openTerminal": (row) => this.on(row, () => true, (it) => this.openTerminal(it)),
      "segue.answer": (row) => this.on(row, (it) => it.dialog !== null, (it) => this.answer(it.session)),
      "segue.send": (row) => this.on(row, () => true, (it) => this.askAndSend(it)),
      "segue.resume": (row) => this.on(row, isResumable, (it) => this.resume(it)),
      "segue.copyAddress": (row) => this.on(row, () => true, (it) => this.copyAddress(it)),
      "segue.openAddress": () => this.openAddress(),
      "segue.reconnect": () => this.list.connect(),
      "segue.setProgram": () => vscode.commands.executeCommand("workbench.action.openSettings", "segue.program"),
    };
    const guarded = Object.entries(commands).map(([name, action]) =>
      vscode.commands.registerCommand(name, (row?: SessionRow) => reported(() => action(row))));
    const handler = vscode.window.registerUriHandler({ handleUri: (uri) => void reported(() => this.openUri(uri)) });
    return [...guarded, handler];
  }

  /** Shows the question of a session with its choices. The question is shown as a whole. */
  async answer(id: string): Promise<void> {
    const session = this.list.get(id);
    const question = session?.dialog;
    if (!session || !question) throw new SegueFailure("the session asks nothing that could be answered");
    const picked = await pickAnswer(session, question.question, choicesOf(question));
    // A later question is never answered by mistake: the program compares the id.
    if (picked) await this.list.run(["answer", id, picked.answer, "--question", question.id]);
  }

  /** Records a message for the agent, which gets it when it is ready. */
  async send(id: string, text: string): Promise<void> {
    // On standard input: every user of the machine can read the arguments of a program.
    await this.list.run(["send", id, "--no-wait", "-"], text);
    vscode.window.setStatusBarMessage("Segue: the message is recorded", 5000);
  }

  private show(session: ListedSession): void {
    this.conversations.open(session.session, session.address);
  }

  /** Runs an action on the session of a row, or on one that the user picks. */
  private async on(
    row: SessionRow | undefined,
    isPossible: (session: ListedSession) => boolean,
    action: (session: ListedSession) => unknown,
  ): Promise<void> {
    const current = row && (this.list.get(row.session.session) ?? row.session);
    const session = current ?? (await pickSession(this.list.sessions.filter(isPossible)));
    if (session) await action(session);
  }

  private async openTerminal(session: ListedSession): Promise<void> {
    if (hasTerminal(session)) return this.terminals.open(session.session, session.address);
    if (session.headless) throw new SegueFailure(`${session.address} is headless: it has no terminal`);
    const text = plain(`${session.address} does not run (${session.status}).`);
    const picked = await vscode.window.showInformationMessage(text, "Bring back", "Open conversation");
    if (picked === "Bring back") await this.resume(session);
    if (picked === "Open conversation") this.show(session);
  }

  private async resume(session: ListedSession): Promise<void> {
    const { session: id, address } = session;
    const isBack = await resume(this.list.program(), id, address);
    if (isBack && !session.headless) this.terminals.open(id, address);
  }

  private async askAndSend(session: ListedSession): Promise<void> {
    const prompt = "The agent gets it when it is ready.";
    const text = await vscode.window.showInputBox({ title: plain(`Message to ${session.address}`), prompt });
    if (text?.trim()) await this.send(session.session, text);
  }

  private async copyAddress(session: ListedSession): Promise<void> {
    await vscode.env.clipboard.writeText(addressOf(session.session));
    vscode.window.setStatusBarMessage("Segue: the address is copied", 5000);
  }

  private async openAddress(): Promise<void> {
    const prompt = "segue://session/ID, an id, or fleet/name";
    const text = await vscode.window.showInputBox({ title: "Open a session of Segue", prompt });
    if (!text?.trim()) return;
    const session = findSession(text, await this.list.all());
    if (!session) throw noSession(text);
    const way = await vscode.window.showQuickPick(["Conversation", "Terminal"], { title: plain(session.address) });
    if (way === "Conversation") this.show(session);
    if (way === "Terminal") await this.openTerminal(session);
  }

  /** Opens `/session/ID`, or its terminal with `?as=terminal`. Any web page can ask for it. */
  private async openUri(uri: vscode.Uri): Promise<void> {
    const id = idInPath(uri.path);
    const session = id && findSession(id, await this.list.all());
    if (!session) throw noSession(uri.path);
    if (uri.query === "as=terminal") await this.openTerminal(session);
    else this.show(session);
  }
}

function noSession(text: string): SegueFailure {
  return new SegueFailure(`there is no session \`${text}\``, ["run `segue ls --all` to see all sessions"]);
}

/** Runs an action, and shows its failure. Returns whether it succeeded. */
export async function reported(action: () => unknown): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (error) {
    const text = error instanceof SegueFailure ? error.text : String(error);
    void vscode.window.showErrorMessage(plain(`Segue: ${text}`));
    return false;
  }
}

async function pickSession(sessions: ListedSession[]): Promise<ListedSession | undefined> {
  if (sessions.length === 0) throw new SegueFailure("no session allows this now");
  const items = sessions.map((session) => ({
    label: plain(session.address),
    description: plain(session.status),
    session,
  }));
  return (await vscode.window.showQuickPick(items, { title: "Session" }))?.session;
}

/** Lets the user choose an answer. The lines of the question are above the choices. */
function pickAnswer(session: ListedSession, question: string, choices: Choice[]): Promise<Choice | null> {
  const lines: AnswerItem[] = wrapped(question, QUESTION_COLUMNS).map((it) => ({ label: plain(it) || " ", alwaysShow: true }));
  const answers: AnswerItem[] = choices.map((choice, index) => ({
    label: plain(`${index + 1}. ${choice.text}`),
    choice,
  }));
  const separator = { label: "Answers", kind: vscode.QuickPickItemKind.Separator };
  const picker = vscode.window.createQuickPick<AnswerItem>();
  picker.title = plain(`${session.address} asks`);
  picker.placeholder = "Choose an answer";
  picker.items = [...lines, separator, ...answers];
  picker.activeItems = answers.slice(0, 1);
  return new Promise((resolve) => {
    picker.onDidAccept(() => {
      const choice = picker.activeItems[0]?.choice;
      if (!choice) return;
      resolve(choice);
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(null);
      picker.dispose();
    });
    picker.show();
  });
}
