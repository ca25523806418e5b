import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { choicesOf, findSession, groupsOf, idInAddress, idInPath, plain, waitingSessions, wrapped } from "../vscode/model.ts";
import type { ListedSession } from "../vscode/model.ts";
import { failureIn, findProgram } from "../vscode/program.ts";

const ID = "0198f9d2-0000-7000-8000-000000000001";
const OTHER = "0198f9d2-0000-7000-8000-000000000002";

function listed(fields: Partial<ListedSession>): ListedSession {
  const { fleet = "shop", name = "coder" } = fields;
  const session = { session: ID, address: `${fleet}/${name}`, fleet, name, status: "idle", attention: null, cwd: "/shop", updated_at: "2026-01-01T00:00:00Z" };
  return { ...session, ...fields } as ListedSession;
}

test("id is read from an address, and any other text is no id", () => {
  for (const text of [`segue://session/${ID}`, ID, ` ${ID.toUpperCase()} `]) assert.equal(idInAddress(text), ID);
  for (const text of ["", "coder", "segue://session/coder", `segue://session/${ID}/x`, `--${ID}`]) {
    assert.equal(idInAddress(text), null, text);
  }
  assert.equal(idInPath(`/session/${ID}`), ID);
  for (const path of ["/session/", `/session/${ID}/x`, `/session/../${ID}`, `/${ID}`]) {
    assert.equal(idInPath(path), null, path);
  }
});

test("session is found by id, address or unique name", () => {
  const coder = listed({});
  const others = [coder, listed({ session: OTHER, fleet: "bank" }), listed({ session: OTHER, name: "tester" })];
  assert.equal(findSession(`segue://session/${ID}`, others), coder);
  assert.equal(findSession("shop/coder", others), coder);
  assert.equal(findSession("tester", others), others[2]);
  assert.equal(findSession("coder", others), null, "two sessions have this name");
  assert.equal(findSession("nobody", others), null);
});

test("text that the editor would take for an icon, a link or a line break stays text on one line", () => {
  assert.equal(plain("$(alert) [yes](command:x)"), "$\u200b(alert) [yes]\u200b(command:x)");
  assert.equal(plain("a\nb\u001b[31m\u202ec\u2028d"), "a b [31m c d");
  assert.equal(plain("costs $5 (five) [a] (b)"), "costs $5 (five) [a] (b)");
});

test("sessions that need a person are first, and rows of a fleet are sorted by name", () => {
  const asks = listed({ name: "zoe", status: "waiting", attention: "permission" });
  const lost = listed({ name: "amy", status: "lost", attention: "lost", updated_at: "2025-01-01T00:00:00Z" });
  const idle = listed({ name: "bob", fleet: "bank" });
  const layout = groupsOf([asks, idle, lost]).map((it) => [it.label, it.sessions.map(({ name }) => name)]);
  assert.deepEqual(layout, [["Needs you", ["zoe", "amy"]], ["bank", ["bob"]], ["shop", ["amy", "zoe"]]]);
  assert.deepEqual(groupsOf([idle]).map((it) => it.label), ["bank"]);
  assert.deepEqual(waitingSessions([idle]), []);
});

test("question without choices is answered yes or no, and choices by number", () => {
  const question = { id: "1", kind: "permission", question: "Allow?", answer: "" } as const;
  assert.deepEqual(choicesOf({ ...question, choices: [] }).map((it) => it.answer), ["yes", "no"]);
  assert.deepEqual(choicesOf({ ...question, choices: ["red", "green"] }), [{ answer: "1", text: "red" }, { answer: "2", text: "green" }]);
});

test("wrapped lines have all words of a text", () => {
  const text = `first line\n${"word ".repeat(40)}end\n${"x".repeat(45)}`;
  const lines = wrapped(text, 20);
  assert.ok(lines.every((it) => it.length <= 20), lines.join("\n"));
  assert.equal(lines.join("").replaceAll(" ", ""), text.replace(/\s/g, ""));
});

test("program is found in absolute folders of PATH and in usual folders, and never relative to a folder", () => {
  const home = mkdtempSync(join(tmpdir(), "segue-program-"));
  try {
    const folder = join(home, ".cargo/bin");
    mkdirSync(folder, { recursive: true });
    const program = join(folder, "segue");
    writeFileSync(program, "");
    assert.equal(findProgram("segue", folder, "/none"), null, "it is not executable");
    chmodSync(program, 0o755);
    assert.equal(findProgram("segue", `relative:${folder}`, "/none"), program);
    assert.equal(findProgram("segue", undefined, home), program);
    assert.equal(findProgram(program, "", "/none"), program);
    for (const name of ["./segue", ".cargo/bin/segue", "other", folder]) assert.equal(findProgram(name, folder, home), null, name);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test("failure has the message and the hints of the program", () => {
  const failure = failureIn({ error: { message: "it failed", hints: ["run `segue ls`"] } });
  assert.equal(failure?.text, "it failed — run `segue ls`");
  for (const line of [null, {}, { error: null }, { error: { message: 1 } }]) assert.equal(failureIn(line), null);
});
