// The page of a conversation. Every text of an agent becomes a text node.

import type { FromPanel, ShownSession, ShownTurn, ToPanel } from "./messages.ts";

declare function acquireVsCodeApi(): { postMessage(message: FromPanel): void };

const MAX_TURNS = 1000;

const ROLES: Record<string, string> = {
  user: "You",
  assistant: "Agent",
  tool_call: "Tool",
  tool_result: "Result",
  summary: "Summary",
};

const editor = acquireVsCodeApi();
const find = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;
const turns = find("turns");
const draft = find<HTMLTextAreaElement>("message");

function element(name: string, kind: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.className = kind;
  made.textContent = text;
  return made;
}

function showTurn({ role, text, tool }: ShownTurn): void {
  const isAtEnd = innerHeight + scrollY >= document.body.scrollHeight - 40;
  const turn = element("article", "turn", "");
  turn.dataset["role"] = role;
  const who = ROLES[role] ?? role;
  turn.append(element("h2", "who", tool ? `${who}: ${tool}` : who), element("div", "text", text));
  turns.append(turn);
  while (turns.childElementCount > MAX_TURNS) turns.firstElementChild?.remove();
  if (isAtEnd) scrollTo(0, document.body.scrollHeight);
}

function showSession(shown: ShownSession | null): void {
  find("status").textContent = shown ? `${shown.symbol} ${shown.address} · ${shown.status}` : "";
  find("question").hidden = shown?.question == null;
  find("asked").textContent = shown?.question ?? "";
  find("choices").replaceChildren(...(shown?.choices ?? []).map((it) => element("li", "choice", it)));
}

function showFailure(text: string): void {
  find("failure").textContent = text;
  find("failure").hidden = text === "";
}

addEventListener("message", ({ data }: MessageEvent<ToPanel>) => {
  if (data.type === "turn") showTurn(data.turn);
  if (data.type === "session") showSession(data.session);
  if (data.type === "failure") showFailure(data.text);
  if (data.type === "restart") {
    turns.replaceChildren();
    showFailure("");
  }
  if (data.type === "draft") draft.value = data.text;
});

function send(): void {
  if (draft.value.trim()) editor.postMessage({ type: "send", text: draft.value });
}

find("answer").addEventListener("click", () => editor.postMessage({ type: "answer" }));
find("form").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
draft.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
});
draft.addEventListener("input", () => editor.postMessage({ type: "draft", text: draft.value }));
editor.postMessage({ type: "ready" });
