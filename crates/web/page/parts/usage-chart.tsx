// Bars by day, stacked by vendor, as SVG.

import { count } from "../model/format.ts";
import { type UsageDay, scaleTop } from "../model/usage.ts";

const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 48;
const BOTTOM = 22;
const TOP = 8;
// One class of the style sheet for each series.
const SERIES = 6;

export function UsageChart({ days }: { days: UsageDay[] }) {
  const vendors = [...new Set(days.flatMap((day) => day.parts.map((part) => part.vendor)))].sort();
  const top = scaleTop(Math.max(...days.map((day) => day.total)));
  const plotHeight = HEIGHT - BOTTOM - TOP;
  const y = (tokens: number) => TOP + plotHeight - (tokens / top) * plotHeight;
  const step = (WIDTH - LEFT) / days.length;
  const series = (vendor: string) => vendors.indexOf(vendor) % SERIES;
  return (
    <>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={summary(days)}>
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line class="grid-line" x1={LEFT} x2={WIDTH} y1={y(top * part)} y2={y(top * part)} />
            <text class="axis" x={LEFT - 6} y={y(top * part) + 4} text-anchor="end">
              {count(top * part)}
            </text>
          </g>
        ))}
        {days.map((day, index) => (
          <Bar key={day.day} day={day} x={LEFT + index * step} width={step} y={y} series={series} />
        ))}
        {days.map((day, index) =>
          index % 7 === days.length % 7 ? (
            <text key={day.day} class="axis" x={LEFT + index * step} y={HEIGHT - 6}>
              {day.day.slice(5)}
            </text>
          ) : null,
        )}
      </svg>
      <ul class="legend">
        {vendors.map((vendor) => (
          <li key={vendor}>
            <span class={`swatch series-${series(vendor)}`} aria-hidden="true" /> {vendor}
          </li>
        ))}
      </ul>
    </>
  );
}

function Bar(props: {
  day: UsageDay;
  x: number;
  width: number;
  y: (tokens: number) => number;
  series: (vendor: string) => number;
}) {
  let below = 0;
  const bars = props.day.parts.map(({ vendor, tokens }) => {
    const bottom = props.y(below);
    below += tokens;
    const height = bottom - props.y(below);
    return (
      <rect
        key={vendor}
        class={`series-${props.series(vendor)}`}
        x={props.x + 2}
        y={props.y(below)}
        width={Math.max(1, props.width - 4)}
        height={height}
        rx={1.5}
      >
        <title>{`${props.day.day} ${vendor}: ${count(tokens)} tokens`}</title>
      </rect>
    );
  });
  return <g>{bars}</g>;
}

function summary(days: UsageDay[]): string {
  const most = days.reduce((best, day) => (day.total > best.total ? day : best));
  return `Tokens by day. Most on ${most.day}: ${count(most.total)}.`;
}
