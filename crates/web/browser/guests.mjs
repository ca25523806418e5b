// Links to one session: what a guest sees, an expired link, and a link that is revoked while a guest
// watches.

import assert from "node:assert/strict";

import { Scenario, checkAccess, segue, segueJson, startAgent, terminalShows } from "./support.mjs";

const share = (name, expires) => segueJson("share", name, "--expires", expires);

await Scenario.run(async (scenario) => {
  const fox = startAgent("fox", "remember the word amber");
  const owl = startAgent("owl", "a secret of owl");
  const link = share("fox", "1h");

  const guest = await scenario.page();
  await guest.goto(link.url);
  await terminalShows(guest, "amber");
  assert.equal(new URL(guest.url()).pathname.split("/")[2], fox.id, "a guest lands at the session");
  assert.equal(new URL(guest.url()).hash, "", "the code has left the address bar");
  assert.equal(await guest.getByRole("button", { name: "Take control" }).count(), 0);
  await checkAccess(guest, "a link to a session");
  // Keys of a guest reach nobody.
  await guest.locator("[data-terminal]").click();
  await guest.keyboard.type("typed by a guest");
  await guest.keyboard.press("s");
  assert.equal(await guest.getByRole("dialog", { name: /^Send/ }).count(), 0);

  // Every other path leads back to the session.
  for (const path of ["/", "/sessions", `/sessions/${owl.id}/talk`, "/tasks", "/settings", "/worktrees"]) {
    await guest.goto(new URL(path, link.url).href);
    await guest.waitForURL(`**/sessions/${fox.id}/**`);
    await guest.getByText("read-only link").waitFor();
    await terminalShows(guest, "amber");
    const text = await guest.locator("body").innerText();
    assert.ok(!/owl/.test(text), `${path}: ${text}`);
  }
  await guest.goto(new URL(`/sessions/${fox.id}/talk`, link.url).href);
  await guest.locator(".chat").getByText("remember the word amber").first().waitFor();
  assert.ok(!segue("show", "fox").includes("typed by a guest"));

  // A second guest uses the same link, at the terminal. The link is revoked while both watch.
  const second = await scenario.page();
  await second.goto(link.url);
  await second.locator("[data-connected=yes]").waitFor();
  segue("token", "revoke", link.name);
  for (const page of [guest, second]) {
    await page.getByRole("alert").getByText("wrong, expired or revoked").waitFor();
    assert.equal(await page.getByText("amber").count(), 0, "nothing of the session stays visible");
    assert.equal(await page.getByText("segue web").count(), 0, "a guest cannot run commands there");
    await checkAccess(page, "a link that was revoked");
    await page.reload();
    await page.getByRole("alert").waitFor();
  }
  const late = await scenario.page();
  await late.goto(link.url);
  await late.getByRole("alert").getByText("wrong, expired or revoked").waitFor();

  // A link expires while a guest watches: the daemon ends the stream and the terminal.
  const short = share("fox", "3s");
  const brief = await scenario.page();
  await brief.goto(short.url);
  await brief.getByRole("alert").getByText("wrong, expired or revoked").waitFor();
  const expired = await scenario.page();
  await expired.goto(short.url);
  await expired.getByRole("alert").getByText("wrong, expired or revoked").waitFor();
});
