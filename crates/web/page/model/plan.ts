// Plans of tasks: how their states look, and where the tasks are in the picture of a plan.

import type { PlanTask } from "../api/types.ts";
import { type StatusLook, TASK_LOOKS, unknownLook } from "./status.ts";

const PLAN_LOOKS: Record<string, StatusLook> = {
  running: { symbol: "●", word: "running", tone: "working" },
  waiting: { symbol: "▲", word: "waiting for you", tone: "waiting" },
  paused: { symbol: "◇", word: "paused", tone: "interrupted" },
  done: { symbol: "✓", word: "done", tone: "done" },
  failed: { symbol: "✕", word: "failed", tone: "failed" },
  cancelled: { symbol: "·", word: "cancelled", tone: "ended" },
};

const PLAN_TASK_LOOKS: Record<string, StatusLook> = {
  ...TASK_LOOKS,
  blocked: { symbol: "◌", word: "blocked", tone: "starting" },
  approval: { symbol: "▲", word: "needs approval", tone: "waiting" },
  ready: { symbol: "○", word: "ready", tone: "idle" },
  skipped: { symbol: "·", word: "skipped", tone: "ended" },
};

export function planLook(state: string): StatusLook {
  return PLAN_LOOKS[state] ?? unknownLook(state);
}

export function planTaskLook(status: string): StatusLook {
  return PLAN_TASK_LOOKS[status] ?? unknownLook(status);
}

/** The size of a task in the picture, and the gaps between tasks, in pixels. */
export const NODE = { width: 168, height: 44, gapX: 56, gapY: 14 } as const;
/** A larger plan has no picture: a browser draws it too slowly, and a person cannot read it. */
export const MAX_DRAWN_TASKS = 500;

export interface PlacedNode {
  task: PlanTask;
  x: number;
  y: number;
}

export interface PlanPicture {
  width: number;
  height: number;
  nodes: PlacedNode[];
  /** The path of each arrow, from a needed task to the task that needs it. */
  arrows: { key: string; path: string; isMet: boolean }[];
}

/** Returns the number of the layer of each task: one more than that of the last task it needs. */
export function layersOf(tasks: PlanTask[]): Map<string, number> {
  const byName = new Map(tasks.map((task) => [task.name, task]));
  const layers = new Map<string, number>();
  const visit = (name: string): number => {
    const known = layers.get(name);
    if (known !== undefined) return known;
    // A plan has no cycle. If it had one, this would end it.
    layers.set(name, 0);
    const needs = (byName.get(name)?.needs ?? []).filter((it) => byName.has(it));
    const layer = needs.reduce((most, it) => Math.max(most, visit(it) + 1), 0);
    layers.set(name, layer);
    return layer;
  };
  for (const task of tasks) visit(task.name);
  return layers;
}

/** Places the tasks in columns by their layers. In a column, a task is near the tasks it needs. */
export function drawPlan(tasks: PlanTask[]): PlanPicture {
  const layers = layersOf(tasks);
  const columns: PlanTask[][] = [];
  for (const task of tasks) (columns[layers.get(task.name) ?? 0] ??= []).push(task);
  const rows = new Map<string, number>();
  for (const column of columns) {
    const middle = (task: PlanTask) => {
      const known = task.needs.flatMap((it) => rows.get(it) ?? []);
      return known.length === 0 ? 0 : known.reduce((sum, it) => sum + it, 0) / known.length;
    };
    // The sort is stable, so tasks with the same needs stay in the order of the file.
    column.sort((a, b) => middle(a) - middle(b));
    column.forEach((task, row) => rows.set(task.name, row));
  }
  const at = (task: PlanTask): PlacedNode => ({
    task,
    x: (layers.get(task.name) ?? 0) * (NODE.width + NODE.gapX),
    y: (rows.get(task.name) ?? 0) * (NODE.height + NODE.gapY),
  });
  const nodes = tasks.map(at);
  const tallest = Math.max(1, ...columns.map((column) => column.length));
  return {
    width: Math.max(1, columns.length) * (NODE.width + NODE.gapX) - NODE.gapX,
    height: tallest * (NODE.height + NODE.gapY) - NODE.gapY,
    nodes,
    arrows: arrowsOf(nodes),
  };
}

function arrowsOf(nodes: PlacedNode[]): PlanPicture["arrows"] {
  const byName = new Map(nodes.map((node) => [node.task.name, node]));
  return nodes.flatMap((to) =>
    to.task.needs.flatMap((name) => {
      const from = byName.get(name);
      if (!from) return [];
      const isMet = from.task.status === "done";
      return [{ key: `${name} ${to.task.name}`, path: arrow(from, to), isMet }];
    }),
  );
}

function arrow(from: PlacedNode, to: PlacedNode): string {
  const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
  const [x2, y2] = [to.x, to.y + NODE.height / 2];
  const bend = NODE.gapX / 2;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

/** Returns the tasks that need a task. */
export function needing(tasks: PlanTask[], name: string): string[] {
  return tasks.filter((task) => task.needs.includes(name)).map((task) => task.name);
}

/** Shortens a name, so that it fits into its node. */
export function shortName(name: string, most = 20): string {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}
