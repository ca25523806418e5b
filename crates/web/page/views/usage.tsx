import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { DiskReport, SweepReport, UsageList, UsageRow } from "../api/types.ts";
import { count, dollars, plural, size } from "../model/format.ts";
import { dayBefore, dayRows, tokensOf, usageDays } from "../model/usage.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { attempt } from "../parts/toast.tsx";
import { UsageChart } from "../parts/usage-chart.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { useNow } from "../state/clock.ts";
import { useMay } from "../state/identity.ts";
import { useResource } from "../state/resource.ts";
import { announce } from "../state/topics.ts";

const SHOWN_DAYS = 30;
const FIRST_DAYS = 7;

interface UsageTables {
  byDay: UsageList;
  byVendorDay: UsageList;
  byVendor: UsageList;
  byAgent: UsageList;
}

async function loadUsage(): Promise<UsageTables> {
  const [byDay, byVendorDay, byVendor, byAgent] = await Promise.all([
    calls.usage("day"),
    calls.usage("day_and_vendor"),
    calls.usage("vendor"),
    calls.usage("agent"),
  ]);
  return { byDay, byVendorDay, byVendor, byAgent };
}

export function UsageView() {
  const usage = useResource("usage", loadUsage, ["usage"]);
  const disk = useResource("disk", calls.disk, ["disk"]);
  return (
    <>
      <ViewHead title="Usage" />
      <Loaded of={usage} lines={6}>
        {({ byDay, byVendorDay, byVendor, byAgent }) => (
          <>
            <DayChart rows={byVendorDay.usage} />
            <DayTable list={byDay} />
            <UsageTable title="By agent" rows={mostFirst(byAgent.usage)} nameOf={agentName}>
              <Row name="Total" row={byAgent.total} />
            </UsageTable>
            <UsageTable
              title="By vendor"
              rows={mostFirst(byVendor.usage)}
              nameOf={(row) => row.vendor ?? "unknown"}
            />
          </>
        )}
      </Loaded>
      <h2>Disk</h2>
      <Loaded of={disk}>{(data) => <DiskCard disk={data} />}</Loaded>
    </>
  );
}

/** Returns today in UTC, as the daemon counts days. */
function todayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

function DayChart({ rows }: { rows: UsageRow[] }) {
  const today = todayOf(Date.now());
  const days = useMemo(() => usageDays(rows, today, SHOWN_DAYS), [rows, today]);
  const total = days.reduce((sum, day) => sum + day.total, 0);
  if (total === 0) {
    return (
      <Empty icon="chart" title="No usage in the last 30 days">
        <p>Agents report the tokens that they use.</p>
      </Empty>
    );
  }
  return (
    <figure class="card chart-card">
      <figcaption>
        <strong>{count(total)} tokens</strong> in the last {SHOWN_DAYS} days
      </figcaption>
      <UsageChart days={days} />
    </figure>
  );
}

function mostFirst(rows: UsageRow[]): UsageRow[] {
  return [...rows].sort((a, b) => tokensOf(b) - tokensOf(a));
}

function agentName(row: UsageRow): string {
  return [row.fleet, row.agent ?? "without agent"].filter(Boolean).join("/");
}

/** The newest days. Today and yesterday are always there, so that nothing has to be looked up. */
function DayTable({ list }: { list: UsageList }) {
  const [isWhole, setWhole] = useState(false);
  const now = useNow();
  const rows = dayRows(list.usage, todayOf(now));
  const shown = isWhole ? rows : rows.slice(0, FIRST_DAYS);
  if (list.usage.length === 0) return null;
  return (
    <>
      <UsageTable title="By day" rows={shown} nameOf={(row) => dayName(row, todayOf(now))} />
      {rows.length > shown.length && (
        <button class="button quiet small" onClick={() => setWhole(true)}>
          Show all {plural(rows.length, "day")}
        </button>
      )}
    </>
  );
}

function dayName({ day }: UsageRow, today: string): string {
  if (day === today) return `today, ${day}`;
  return day === dayBefore(today) ? `yesterday, ${day}` : (day ?? "");
}

function UsageTable(props: {
  title: string;
  rows: UsageRow[];
  nameOf: (row: UsageRow) => string;
  children?: ComponentChildren;
}) {
  const { title, rows, nameOf } = props;
  if (rows.length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <div class="scroll-x" tabIndex={0} role="region" aria-label={`Usage ${title.toLowerCase()}`}>
        <table class="numbers">
          <thead>
            <tr>
              <th>{title.replace("By ", "").replace(/^./, (letter) => letter.toUpperCase())}</th>
              <th>Cost</th>
              <th>Input</th>
              <th>Cached</th>
              <th>Output</th>
              <th>Sessions</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={nameOf(row)} name={nameOf(row)} row={row} />
            ))}
          </tbody>
          {props.children && <tfoot>{props.children}</tfoot>}
        </table>
      </div>
    </>
  );
}

function Row({ name, row }: { name: string; row: UsageRow }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        {row.cost_usd === null ? (
          <span class="dim" title="No agent has reported a cost">
            not reported
          </span>
        ) : (
          dollars(row.cost_usd)
        )}
      </td>
      <td>{count(row.input)}</td>
      <td>{count(row.cached)}</td>
      <td>{count(row.output)}</td>
      <td>{row.sessions}</td>
    </tr>
  );
}

const LARGEST = 5;

function DiskCard({ disk }: { disk: DiskReport }) {
  const largest = [...disk.items].sort((a, b) => b.bytes - a.bytes).slice(0, LARGEST);
  const share = disk.budget ? Math.min(1, disk.total / disk.budget) : null;
  const tone = disk.level === "full" ? "tone-failed" : "tone-waiting";
  return (
    <section class="card disk" aria-label="Disk use">
      <p>
        <strong>{size(disk.total)}</strong>{" "}
        {disk.budget ? `of ${size(disk.budget)}` : "without a budget"}{" "}
        {disk.level !== "normal" && <span class={tone}>▲ {disk.level}</span>}
      </p>
      {share !== null && (
        <meter class="meter" min={0} max={1} value={share} aria-label="Part of the disk budget" />
      )}
      <ul class="rows">
        {largest.map((item) => (
          <li key={`${item.kind} ${item.name}`} class="row">
            <span class="dim">{item.kind}</span>
            <span class="row-text">{item.name}</span>
            <span>{size(item.bytes)}</span>
          </li>
        ))}
      </ul>
      <Sweep />
    </section>
  );
}

/** Shows what a sweep would remove, and removes it after a second click. */
function Sweep() {
  const [plan, setPlan] = useState<SweepReport | null>(null);
  const maySweep = useMay("admin");
  if (!maySweep) return null;
  const preview = () => attempt(async () => setPlan(await calls.sweep(true)));
  const carryOut = async () => {
    const isDone = await attempt(() => calls.sweep(false), "Old things are removed");
    if (isDone) {
      setPlan(null);
      announce(["disk", "worktrees"]);
    }
  };
  if (!plan) {
    return (
      <button class="button" onClick={() => void preview()}>
        <Icon name="broom" size={16} /> Show what a sweep would remove
      </button>
    );
  }
  return (
    <div class="sweep" role="region" aria-label="What a sweep would remove">
      <p>
        {plan.removed.length === 0
          ? "A sweep would remove nothing."
          : `A sweep would remove ${plural(plan.removed.length, "thing")}:`}
      </p>
      <ul class="rows">
        {plan.removed.map((item) => (
          <li key={`${item.kind} ${item.name}`} class="row">
            <span class="dim">{item.kind}</span>
            <span class="row-text">{item.name}</span>
            <span class="dim">{item.reason}</span>
          </li>
        ))}
      </ul>
      <p class="row-of-buttons">
        {plan.removed.length > 0 && (
          <button class="button primary" onClick={() => void carryOut()}>
            Remove these
          </button>
        )}
        <button class="button" onClick={() => setPlan(null)}>
          Keep all
        </button>
      </p>
    </div>
  );
}
