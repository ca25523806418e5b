// Builds the page into `dist`: bundled, minified, named by the digests of the contents, compressed.
// Builds the extension for VS Code into `dist/segue.vsix`.
//
//   node build.mjs                        builds into `dist` beside this file
//   node build.mjs --out DIR --packages DIR   builds elsewhere, with the packages of that folder
//   node build.mjs --is-fresh             exits with 0 if `dist` belongs to the sources
//   node build.mjs --stamp                prints the digest of the sources

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";

import { packExtension } from "./vscode/pack.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? null : process.argv[at + 1];
};
const out = option("--out") ?? join(here, "dist");
const packages = option("--packages") ?? join(here, "node_modules");

/** Lists the files that the page and the extension are made from, sorted by their paths. */
function sourceFiles() {
  const files = [];
  const visit = (folder) => {
    for (const name of readdirSync(join(here, folder)).sort()) {
      const path = `${folder}/${name}`;
      if (statSync(join(here, path)).isDirectory()) visit(path);
      else files.push(path);
    }
  };
  visit("page");
  visit("vscode");
  return [...files, "build.mjs", "package-lock.json", "package.json"].sort();
}

/** Returns the digest of the sources. `build.rs` computes the same one. */
function stamp() {
  const hash = createHash("sha256");
  for (const path of sourceFiles()) {
    const content = readFileSync(join(here, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

async function bundle(esbuild) {
  return esbuild.build({
    entryPoints: { app: join(here, "page/main.tsx"), style: join(here, "page/styles/index.css") },
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    target: ["es2022"],
    jsx: "automatic",
    jsxImportSource: "preact",
    nodePaths: [packages],
    outdir: "/assets",
    entryNames: "[name]-[hash]",
    chunkNames: "part-[hash]",
    legalComments: "none",
    write: false,
    metafile: true,
    logLevel: "warning",
  });
}

/** Bundles a file of the page that is a script of its own. */
async function bundleAlone(esbuild, name, define = {}) {
  const built = await esbuild.build({
    entryPoints: [join(here, `page/${name}.ts`)],
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2022"],
    write: false,
    define,
    logLevel: "warning",
  });
  return built.outputFiles[0].contents;
}

/** Builds the extension. Its two programs run in the extension host and in the page of a panel. */
async function bundleExtension(esbuild) {
  const programs = [
    { entry: "extension.ts", to: "extension.js", platform: "node", format: "cjs", external: ["vscode"] },
    { entry: "webview/conversation.ts", to: "webview/conversation.js", platform: "browser", format: "iife", external: [] },
  ];
  const files = [];
  for (const { entry, to, ...options } of programs) {
    const built = await esbuild.build({
      ...options,
      entryPoints: [join(here, "vscode", entry)],
      bundle: true,
      minify: true,
      target: ["es2022"],
      legalComments: "none",
      write: false,
      logLevel: "warning",
    });
    files.push([to, built.outputFiles[0].contents]);
  }
  for (const name of ["package.json", "README.md", "activity.svg", "webview/conversation.css"]) {
    files.push([name, readFileSync(join(here, "vscode", name))]);
  }
  files.push(["icon.png", readFileSync(join(here, "page/icon.png"))]);
  return packExtension(files);
}

/** Returns the files that the script of the page cannot run without, apart from itself. */
function neededParts({ metafile }, script) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, it]) => [basename(path), it]));
  const found = new Set();
  const visit = (name) => {
    for (const { path, kind } of outputs.get(name).imports) {
      if (kind !== "import-statement" || found.has(basename(path))) continue;
      found.add(basename(path));
      visit(basename(path));
    }
  };
  visit(basename(script));
  return [...found].map((name) => `/assets/${name}`);
}

async function build() {
  const require = createRequire(join(packages, "none.js"));
  const esbuild = require("esbuild");
  const bundled = await bundle(esbuild);
  const files = new Map();
  for (const file of bundled.outputFiles) {
    files.set(`/assets/${basename(file.path)}`, { content: file.contents, isImmutable: true });
  }
  const named = (prefix, end) => [...files.keys()].find((path) => path.startsWith(`/assets/${prefix}-`) && path.endsWith(end));
  for (const path of ["/icon.svg", "/assets/icon-alert.svg", "/assets/icon.png", "/manifest.webmanifest"]) {
    files.set(path, { content: readFileSync(join(here, "page", basename(path))), isImmutable: false });
  }
  const first = await bundleAlone(esbuild, "first-requests");
  const firstDigest = createHash("sha256").update(first).digest("hex").slice(0, 8);
  const firstPath = `/assets/first-${firstDigest}.js`;
  files.set(firstPath, { content: first, isImmutable: true });
  const script = named("app", ".js");
  const preloads = neededParts(bundled, script).map((it) => `<link rel="modulepreload" href="${it}" />`);
  const html = readFileSync(join(here, "page/index.html"), "utf8")
    .replace("{{first}}", firstPath)
    .replace("{{style}}", named("style", ".css"))
    .replace("{{script}}", script)
    .replace("{{preloads}}", preloads.join("\n    "));
  const shell = ["/", ...files.keys()];
  const digest = stamp();
  const worker = await bundleAlone(esbuild, "service-worker", {
    SHELL_FILES: JSON.stringify(shell),
    SHELL_NAME: JSON.stringify(`segue-${digest.slice(0, 12)}`),
  });
  files.set("/service-worker.js", { content: worker, isImmutable: false });
  files.set("/index.html", { content: Buffer.from(html), isImmutable: false });
  write(files, digest, await bundleExtension(esbuild));
}

/** Writes the compressed files, a table of them for `build.rs`, and the extension. */
function write(files, digest, extension) {
  // The new folder takes its place when it is whole.
  const fresh = `${out}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const rows = [];
  let total = 0;
  for (const [path, { content, isImmutable }] of files) {
    const gzip = gzipSync(content, { level: 9, memLevel: 9, strategy: constants.Z_DEFAULT_STRATEGY });
    const etag = createHash("sha256").update(content).digest("hex").slice(0, 16);
    const file = `${path.slice(1).replaceAll("/", "-")}.gz`;
    writeFileSync(join(fresh, file), gzip);
    rows.push([path, TYPES[extname(path)], file, etag, isImmutable].join("\t"));
    total += gzip.length;
  }
  writeFileSync(join(fresh, "files.tsv"), `${rows.join("\n")}\n`);
  writeFileSync(join(fresh, "segue.vsix"), extension);
  writeFileSync(join(fresh, "stamp"), `${digest}\n`);
  rmSync(out, { recursive: true, force: true });
  renameSync(fresh, out);
  console.log(`built the web page: ${files.size} files, ${Math.ceil(total / 1000)} kB compressed; the extension: ${Math.ceil(extension.length / 1000)} kB`);
}

if (process.argv.includes("--stamp")) {
  console.log(stamp());
} else if (process.argv.includes("--is-fresh")) {
  const file = join(out, "stamp");
  const isFresh = existsSync(file) && readFileSync(file, "utf8").trim() === stamp();
  process.exitCode = isFresh ? 0 : 1;
} else {
  await build();
}
