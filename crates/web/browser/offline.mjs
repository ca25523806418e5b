// The page without its daemon: it can be installed, opens from its stored files, shows that its data
// are old, and catches up with everything that happened meanwhile.

import assert from "node:assert/strict";

import { Scenario, ask, checkAccess, go, segue, segueJson, startAgent } from "./support.mjs";

const notice = (page) => page.getByText("No connection to Segue");

const killDaemon = () => process.kill(segueJson("daemon").pid, "SIGKILL");

await Scenario.run(async (scenario) => {
  const fox = startAgent("fox");
  const page = await scenario.login();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => null));
  await checkInstallable(page);
  await onlyFilesAreStored(page);
  await catchUp(page, fox);
  await openWithoutDaemon(page);
});

/** The browser has no objection to installing the page, and its icons exist. */
async function checkInstallable(page) {
  const session = await page.context().newCDPSession(page);
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  // The profiles of tests are private ones, which cannot install anything.
  const errors = installabilityErrors.map((it) => it.errorId).filter((it) => it !== "in-incognito");
  assert.deepEqual(errors, []);
  const { data } = await session.send("Page.getAppManifest");
  const manifest = JSON.parse(data);
  assert.equal(manifest.display, "standalone");
  for (const { src } of manifest.icons) {
    const status = await page.evaluate(async (path) => (await fetch(path)).status, src);
    assert.equal(status, 200, src);
  }
}

/** The browser keeps files of the page, and no answer of the API. */
async function onlyFilesAreStored(page) {
  await go(page, "/sessions");
  await page.locator("main").getByText("fox").first().waitFor();
  const stored = await page.evaluate(async () => {
    const paths = [];
    for (const name of await caches.keys()) {
      const requests = await (await caches.open(name)).keys();
      paths.push(...requests.map((it) => new URL(it.url).pathname));
    }
    return paths;
  });
  assert.ok(stored.includes("/") && stored.length > 5, stored.join(" "));
  assert.deepEqual(stored.filter((path) => path.startsWith("/v1")), []);
}

/** The network fails while sessions begin, end, ask and speak. */
async function catchUp(page, fox) {
  await go(page, `/sessions/${fox.id}/talk`);
  await page.locator(".chat").getByText("hello").first().waitFor();
  const list = await page.context().newPage();
  await list.goto(new URL("/", page.url()).href);
  await list.getByRole("heading", { name: "Nobody needs you" }).waitFor();

  await page.context().setOffline(true);
  await notice(page).waitFor();
  await notice(list).waitFor();
  await checkAccess(page, "the notice of a lost connection");
  for (const number of [1, 2, 3]) segue("send", "fox", "--wait", `said while offline ${number}`);
  startAgent("owl");
  ask("owl");
  startAgent("hare");
  segue("stop", "hare");

  await page.context().setOffline(false);
  await notice(page).waitFor({ state: "detached" });
  await page.getByText(/connected again, \d\d+ events arrived meanwhile/).waitFor({ state: "attached" });
  for (const number of [1, 2, 3]) {
    await page.locator(".chat").getByText(`said while offline ${number}`, { exact: true }).waitFor();
  }
  await list.locator("article.question").getByText("default/owl").waitFor();
  await go(list, "/sessions");
  await list.locator(".session-card", { hasText: "hare" }).getByText("ended").waitFor();
  await list.close();
}

/** The page opens while the daemon is away, and continues by itself when the daemon is back. */
async function openWithoutDaemon(page) {
  killDaemon();
  await notice(page).waitFor();
  await page.reload();
  await page.getByText("Segue does not answer").waitFor();
  await checkAccess(page, "the page without a daemon");
  // The next command starts the daemon.
  segue("send", "fox", "--wait", "said after the daemon died");
  await page.locator(".chat").getByText("said after the daemon died", { exact: true }).waitFor();
}
