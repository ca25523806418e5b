// Several sessions at once: marked with Space or a check box, then sent to, stopped and resumed
// together. A session is stopped at the end of its turn, interrupted and renamed.

import assert from "node:assert/strict";

import { PHONE, Scenario, checkAccess, go, segue, segueJson, sessionOf, startAgent, waitFor } from "./support.mjs";

const bar = (page) => page.getByRole("region", { name: "Marked sessions" });
const status = (name) => sessionOf(name).status;
const told = (name) => segue("show", name);

await Scenario.run(async (scenario) => {
  for (const name of ["ant", "bee", "cat"]) startAgent(name);
  const page = await scenario.login();
  await go(page, "/sessions");
  await page.getByRole("checkbox", { name: "Mark ant" }).waitFor();

  // By keyboard: the first two sessions.
  await page.keyboard.press("j");
  await page.keyboard.press(" ");
  await page.keyboard.press("j");
  await page.keyboard.press(" ");
  await bar(page).getByText("2 sessions marked").waitFor();
  await checkAccess(page, "marked sessions");
  await page.keyboard.press("s");
  const send = page.getByRole("dialog", { name: "Send to 2 sessions" });
  await checkAccess(page, "a message to several sessions");
  await send.getByLabel("Message").fill("hello you two");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Recorded for 2 sessions").waitFor();
  for (const name of ["ant", "bee"]) await waitFor(() => told(name).includes("hello you two"));
  assert.ok(!told("cat").includes("hello you two"));
  await bar(page).waitFor({ state: "detached" });

  // By mouse, on a phone: stop both, and bring both back.
  segue("wait", "ant");
  segue("wait", "bee");
  const phone = await scenario.login({ viewport: PHONE, hasTouch: true, isMobile: true });
  await go(phone, "/sessions");
  for (const name of ["ant", "bee"]) await phone.getByRole("checkbox", { name: `Mark ${name}` }).tap();
  await bar(phone).getByRole("button", { name: "Stop 2" }).tap();
  const stop = phone.getByRole("dialog", { name: "Stop 2 sessions" });
  await stop.getByText("default/bee").waitFor();
  await checkAccess(phone, "stopping several sessions");
  await stop.getByRole("button", { name: "Stop 2 sessions" }).tap();
  await stop.waitFor({ state: "detached" });
  assert.deepEqual(["ant", "bee", "cat"].map(status), ["ended", "ended", "idle"]);
  for (const name of ["ant", "bee"]) await phone.getByRole("checkbox", { name: `Mark ${name}` }).tap();
  await bar(phone).getByRole("button", { name: "Resume 2" }).tap();
  const resume = phone.getByRole("dialog", { name: "Resume 2 sessions" });
  await resume.getByText("resume its conversation").first().waitFor();
  await resume.getByRole("button", { name: "Resume 2 sessions" }).tap();
  await resume.waitFor({ state: "detached" });
  for (const name of ["ant", "bee"]) segue("wait", name);
  assert.deepEqual(["ant", "bee"].map(status), ["idle", "idle"]);

  await afterTurn(page);
  await interrupt(page);
  await rename(page);
});

/** "Stop after this turn": the turn ends by itself, then the session stops. */
async function afterTurn(page) {
  const cat = sessionOf("cat");
  await go(page, `/sessions/${cat.id}/log`);
  segue("send", "cat", "--no-wait", "/slow 8");
  await page.getByRole("button", { name: "Interrupt" }).waitFor();
  await page.keyboard.press("X");
  const dialog = page.getByRole("dialog", { name: "Stop default/cat" });
  await dialog.getByText(/ends the process in the middle of its turn/).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("stops after this turn").waitFor();
  await checkAccess(page, "a session that stops after its turn");
  await page.getByText("cat has ended its turn and is stopped").waitFor();
  assert.equal(status("cat"), "ended");
  const turns = segueJson("show", "cat", "-n", "1");
  assert.equal(turns.role, "assistant", "the turn was not cut off");
}

/** The turn ends, and the agent goes on. */
async function interrupt(page) {
  const bee = sessionOf("bee");
  await go(page, `/sessions/${bee.id}/log`);
  segue("send", "bee", "--no-wait", "/slow 3600");
  await page.getByRole("button", { name: "Interrupt" }).waitFor();
  await page.keyboard.press("i");
  const dialog = page.getByRole("dialog", { name: "Interrupt default/bee" });
  await checkAccess(page, "interrupting a turn");
  await dialog.getByRole("button", { name: "Interrupt bee" }).click();
  segue("wait", "bee", "--for", "idle");
  await page.locator(".session-title").getByText("idle").waitFor();
  assert.equal(sessionOf("bee").pid, bee.pid, "the agent keeps running");
}

async function rename(page) {
  await page.keyboard.press("F2");
  const dialog = page.getByRole("dialog", { name: "Rename default/bee" });
  await checkAccess(page, "renaming a session");
  // A name that another session has is refused, and the dialog stays.
  await dialog.getByLabel("Name").fill("ant");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").getByText(/ant/).waitFor();
  await dialog.getByLabel("Name").fill("wasp");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "default/wasp" }).waitFor();
  await dialog.waitFor({ state: "detached" });
  assert.ok(sessionOf("wasp") && !sessionOf("bee"));
}
