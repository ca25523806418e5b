// Every view, on a wide screen and on a phone: it shows its data, nothing violates the policy, and
// axe finds nothing. With SEGUE_PICTURES it also stores pictures of the views there.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";

import { DESKTOP, PHONE, Scenario, checkAccess, go, segue } from "./support.mjs";
import { fillWorld } from "./world.mjs";

const pictures = process.env.SEGUE_PICTURES;

await Scenario.run(async (scenario) => {
  const { asking, worktree, plan } = await fillWorld();
  const session = (tab, id = asking.id) => `/sessions/${id}/${tab}`;
  const views = [
    ["needs-you", "/", "Allow?"],
    ["sessions", "/sessions", "reader"],
    ["terminal", session("terminal"), "Take control"],
    ["conversation", session("talk"), "Hand over from here"],
    ["review", session("review", worktree.id), "greeting.rs"],
    ["messages", session("messages"), "delivered"],
    ["log", session("log"), "status changed"],
    ["tasks", "/tasks", "Write the release notes"],
    ["plans", "/plans", "release"],
    ["plan", `/plans/${plan}`, "needs approval"],
    ["deliveries", "/deliveries", "No deliveries"],
    ["usage", "/usage", "Disk"],
    ["worktrees", "/worktrees", "feat/greeting"],
    ["settings", "/settings", "Doctor"],
  ];
  for (const [kind, viewport] of [["wide", DESKTOP], ["phone", PHONE]]) {
    const page = await scenario.login({ viewport, colorScheme: kind === "wide" ? "dark" : "light", reducedMotion: "reduce" });
    for (const [name, path, text] of views) {
      await go(page, path);
      await page.locator("main").getByText(text).first().waitFor();
      if (name === "terminal") await page.locator("[data-connected=yes] .xterm-rows").waitFor();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${name} on ${kind} is ${overflow} px too wide`);
      await checkAccess(page, `${name} on ${kind}`);
      if (pictures) await takePicture(page, `web-${name}-${kind}.png`);
    }
    await page.context().close();
  }
  await dialogs(scenario, asking);
});

/** Stores a picture, in which the folder of the test looks like a person's own. */
async function takePicture(page, file) {
  await page.evaluate((root) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(root, "~/src");
  }, dirname(process.env.SEGUE_FOLDER));
  await page.screenshot({ path: join(pictures, file), scale: "css" });
}

/** Dialogs are checked on one width. */
async function dialogs(scenario, asking) {
  const page = await scenario.login();
  await go(page, `/sessions/${asking.id}/log`);
  await page.getByText("status changed").first().waitFor();
  const sheets = [["s", "Send to"], ["h", "Hand over"], ["x", "Stop"], ["F2", "Rename"], ["c", "New session"], ["T", "New task"], ["A", "Take in"], ["d", "Answer"], ["?", "Keys"]];
  for (const [key, title] of sheets) {
    await page.keyboard.press(key);
    const dialog = page.getByRole("dialog", { name: title });
    await dialog.waitFor();
    await checkAccess(page, title);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  await page.keyboard.press("Control+p");
  await page.getByRole("combobox").fill("worktr");
  await checkAccess(page, "the palette");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Worktrees" }).waitFor();
  segue("stop", asking.address);
}
