// Numbers of the usage chart: one bar for each day, one part of it for each vendor.

import type { UsageRow } from "../api/types.ts";

export interface UsageDay {
  day: string;
  total: number;
  parts: { vendor: string; tokens: number }[];
}

export function tokensOf(row: { input: number; output: number }): number {
  return row.input + row.output;
}

/** Returns the last `days` days until `today`, also those without usage. */
export function usageDays(rows: UsageRow[], today: string, days: number): UsageDay[] {
  const byDay = new Map<string, Map<string, number>>();
  for (const row of rows) {
    if (!row.day) continue;
    const vendors = byDay.get(row.day) ?? new Map<string, number>();
    const vendor = row.vendor ?? "all vendors";
    vendors.set(vendor, (vendors.get(vendor) ?? 0) + tokensOf(row));
    byDay.set(row.day, vendors);
  }
  const result: UsageDay[] = [];
  const end = Date.parse(`${today}T00:00:00Z`);
  for (let index = days - 1; index >= 0; index--) {
    const day = new Date(end - index * 86_400_000).toISOString().slice(0, 10);
    const parts = [...(byDay.get(day) ?? [])]
      .map(([vendor, tokens]) => ({ vendor, tokens }))
      .sort((a, b) => a.vendor.localeCompare(b.vendor));
    const total = parts.reduce((sum, part) => sum + part.tokens, 0);
    result.push({ day, total, parts });
  }
  return result;
}

export function dayBefore(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
}

/** Returns the days with usage, the newest first, and always today and yesterday. */
export function dayRows(rows: UsageRow[], today: string): UsageRow[] {
  const none = { input: 0, cached: 0, output: 0, reasoning: 0, cost_usd: null, sessions: 0 };
  const missing = [today, dayBefore(today)].filter((day) => !rows.some((row) => row.day === day));
  const empty = missing.map(
    (day): UsageRow => ({ ...none, day, fleet: null, agent: null, vendor: null }),
  );
  return [...rows, ...empty].sort((a, b) => (b.day ?? "").localeCompare(a.day ?? ""));
}

/** Returns a round number that is at least `value`, as the top of a chart's scale. */
export function scaleTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10;
  return step * power;
}
