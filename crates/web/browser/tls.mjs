// A login over TLS: the cookie is secure, and terminals are WebSockets over TLS.

import assert from "node:assert/strict";

import { Scenario, loginLink, openTerminal, segue, startAgent, takeControl, terminalShows } from "./support.mjs";

await Scenario.run(async (scenario) => {
  const fox = startAgent("fox", "remember the word amber");
  const link = new URL(loginLink());
  assert.equal(link.protocol, "https:");
  link.hostname = "localhost";
  const page = await scenario.page({ ignoreHTTPSErrors: true });
  const sockets = [];
  page.on("websocket", (socket) => sockets.push(new URL(socket.url()).protocol));
  await page.goto(link.href);
  await page.getByRole("heading", { name: "Nobody needs you" }).waitFor();

  const [cookie, ...others] = await page.context().cookies();
  assert.deepEqual(others, []);
  const { name, secure, httpOnly, sameSite, path } = cookie;
  assert.deepEqual({ name, secure, httpOnly, sameSite, path }, {
    name: "__Host-segue_web", secure: true, httpOnly: true, sameSite: "Strict", path: "/",
  });
  assert.equal(await page.evaluate(() => document.cookie), "");

  await openTerminal(page, fox);
  await takeControl(page);
  await page.keyboard.type("what is the word?");
  await page.keyboard.press("Enter");
  await terminalShows(page, "The word is amber.");
  segue("wait", "fox", "--for", "idle");
  assert.ok(sockets.length > 0 && sockets.every((it) => it === "wss:"), sockets.join(" "));
  // Events arrive over TLS as well.
  segue("send", "fox", "--no-wait", "/ask");
  await page.getByText("Allow?").first().waitFor();
}, { args: ["--ignore-certificate-errors"] });
