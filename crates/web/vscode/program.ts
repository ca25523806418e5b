// Runs the program `segue`. The extension does everything through it: the program finds the daemon,
// starts it if it does not run, and repeats a request whose connection breaks.

import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { createInterface } from "node:readline";

/** A failure that the program reports, with commands that help. */
export class SegueFailure extends Error {
  constructor(message: string, readonly hints: string[] = []) {
    super(message);
  }

  /** The message with its hints, for a person. */
  get text(): string {
    return [this.message, ...this.hints].join(" — ");
  }
}

/** Folders below the user's home into which programs are installed. */
const HOME_FOLDERS = [".cargo/bin", ".local/bin"];

/**
 * Returns the absolute path of the program. Relative folders of `PATH` are left out: they would name
 * another program in each folder. An editor that was not started by a shell often has a short `PATH`,
 * so usual folders of the user's home are tried last.
 */
export function findProgram(name: string, path: string | undefined, home: string): string | null {
  if (isAbsolute(name)) return isExecutable(name) ? name : null;
  if (name.includes("/")) return null;
  const usual = HOME_FOLDERS.map((it) => join(home, it));
  const folders = [...(path ?? "").split(delimiter), ...usual].filter((it) => isAbsolute(it));
  return folders.map((it) => join(it, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Reads the failure in the output of a command with `--json`. `null` if there is none. */
export function failureIn(line: unknown): SegueFailure | null {
  const error = (line as { error?: { message?: unknown; hints?: unknown } } | null)?.error;
  if (typeof error?.message !== "string") return null;
  const hints = Array.isArray(error.hints) ? error.hints.map(String) : [];
  return new SegueFailure(error.message, hints);
}

export interface RunningStream {
  stop(): void;
}

export interface StreamEnds {
  onLine(line: unknown): void;
  /** The stream has ended without `stop`. */
  onEnd(failure: SegueFailure): void;
}

/**
 * Runs a command with `--json` that prints one object per line. It runs in the user's home, because
 * a workspace must not decide which sessions a name means.
 */
export function stream(program: string, words: string[], ends: StreamEnds): RunningStream {
  const child = spawn(program, [...words, "--json"], { cwd: homedir(), stdio: ["ignore", "pipe", "ignore"] });
  let isStopped = false;
  let failure: SegueFailure | null = null;
  const end = (found: SegueFailure) => {
    if (!isStopped) ends.onEnd(found);
    isStopped = true;
  };
  child.on("error", (error) => end(new SegueFailure(`\`${program}\` cannot be started: ${error.message}`)));
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = parsed(text);
    failure = failureIn(line) ?? failure;
    if (!isStopped && !failureIn(line) && line !== null) ends.onLine(line);
  });
  child.on("close", (code) => end(failure ?? new SegueFailure(`\`segue ${words[0]}\` ended with status ${code}`)));
  return {
    stop() {
      isStopped = true;
      child.kill();
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Runs a command with `--json` and returns its last line. `input` goes to its standard input. */
export function run(program: string, words: string[], input = ""): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...words, "--json"], { cwd: homedir(), stdio: ["pipe", "pipe", "ignore"] });
    const lines: unknown[] = [];
    child.on("error", (error) => reject(new SegueFailure(`\`${program}\` cannot be started: ${error.message}`)));
    createInterface({ input: child.stdout }).on("line", (text) => lines.push(parsed(text)));
    child.on("close", (code) => {
      const last = lines.at(-1) ?? null;
      const failed = () => new SegueFailure(`\`segue ${words[0]}\` ended with status ${code}`);
      if (code === 0) resolve(last);
      else reject(failureIn(last) ?? failed());
    });
    // A program that has ended already reads no input.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}
