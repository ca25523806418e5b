// A conversation is handed over: the dialog shows what is carried and which secrets are removed, the
// new agent knows the conversation, and the page shows the whole story with links to its turns.

import assert from "node:assert/strict";

import { Scenario, checkAccess, go, segue, segueJson, sessionOf, startAgent } from "./support.mjs";

const SECRET = `ghp_${"x7Kq".repeat(9)}`;
const part = (page, address) => page.getByRole("region", { name: `Conversation of ${address}`, exact: true });

await Scenario.run(async (scenario) => {
  const fox = startAgent("fox", "remember the word amber");
  segue("send", "fox", "--wait", `the token is ${SECRET}`);
  const page = await scenario.login();
  await go(page, `/sessions/${fox.id}/talk`);
  await page.getByRole("button", { name: "Hand over from here" }).click();
  const dialog = page.getByRole("dialog", { name: "Hand over default/fox" });
  const target = dialog.getByLabel("Who continues it");
  // An installed vendor is chosen as soon as the list of vendors is there.
  await page.waitForFunction(() => document.activeElement?.tagName === "SELECT" && document.activeElement.value === "demo");
  assert.ok(!(await target.textContent()).includes("claude"), "vendors that are not installed are left out");
  await checkAccess(page, "the choice of a handoff");
  await dialog.getByRole("button", { name: "Show what is carried over" }).click();

  // Nothing has happened yet, and the secret is not among the turns.
  await dialog.getByText("as default/fox-demo (native)").waitFor();
  await dialog.getByText(/^Removed secrets: 1 /).waitFor();
  await dialog.getByText("The turns").click();
  await dialog.getByText("remember the word amber").waitFor();
  assert.ok(!(await dialog.textContent()).includes(SECRET));
  assert.equal(segueJson("ls", "--all").sessions.length, 1);
  await checkAccess(page, "the preview of a handoff");
  await dialog.getByRole("button", { name: "Hand over to demo" }).click();
  await page.getByRole("heading", { level: 1, name: "default/fox-demo" }).waitFor();
  const next = sessionOf("fox-demo");
  assert.ok(page.url().includes(next.id));

  // The new agent knows the conversation. The page shows both parts, and no turn twice.
  segue("send", "fox-demo", "--wait", "what is the word?");
  await go(page, `/sessions/${next.id}/talk`);
  await part(page, "default/fox-demo").getByText("The word is amber.").waitFor();
  await page.getByText(/handed over to default\/fox-demo \(demo, native\)/).waitFor();
  await part(page, "default/fox").getByText("remember the word amber", { exact: true }).waitFor();
  assert.equal(await page.getByText("remember the word amber", { exact: true }).count(), 1);
  assert.ok((await part(page, "default/fox").textContent()).includes(SECRET), "the old session keeps its words");
  await checkAccess(page, "a story");
  await permalink(page);

  // The old session leads to the new one, and takes no messages.
  await part(page, "default/fox").waitFor();
  await page.getByRole("heading", { level: 2, name: /^began as/ }).getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "default/fox", exact: true }).waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Message to fox" }).count(), 0);
  await page.locator(".talk").getByRole("link", { name: "default/fox-demo" }).click();
  await page.getByRole("heading", { level: 1, name: "default/fox-demo" }).waitFor();

  await backAsDigest(page, fox);
});

/** A link to a turn of the earlier part opens at that turn. */
async function permalink(page) {
  const turn = part(page, "default/fox").locator("li.said.by-user").first();
  await turn.hover();
  const href = await turn.getByRole("link", { name: "Link to this turn" }).getAttribute("href");
  const other = await page.context().newPage();
  await other.goto(new URL(href, page.url()).href);
  const linked = other.locator("li[aria-current=true]");
  await linked.getByText("remember the word amber", { exact: true }).waitFor();
  const box = await linked.boundingBox();
  assert.ok(box.y > 0 && box.y < 800, "the turn is visible");
  await other.close();
}

/** Back again with the keyboard alone, as a summary: the conversation continues in its first session. */
async function backAsDigest(page, fox) {
  await page.keyboard.press("h");
  const dialog = page.getByRole("dialog", { name: "Hand over default/fox-demo" });
  await page.waitForFunction(() => document.activeElement?.tagName === "SELECT" && document.activeElement.value);
  await dialog.getByLabel("Form").selectOption("digest");
  await dialog.getByLabel("Budget in characters").press("Enter");
  await dialog.getByText("as default/fox (digest)").waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === "Hand over to demo");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "default/fox", exact: true }).waitFor();
  segue("wait", "fox");
  await go(page, `/sessions/${fox.id}/talk`);
  await page.getByText(/handed over to default\/fox \(demo, digest\)/).waitFor();
  await part(page, "default/fox").first().getByText("remember the word amber", { exact: true }).waitFor();
  await part(page, "default/fox-demo").getByText("The word is amber.").waitFor();
  assert.equal(await part(page, "default/fox").count(), 2);
  assert.equal(await page.getByText("[Handed over by Segue]").count(), 0, "a line replaces the summary");
}
