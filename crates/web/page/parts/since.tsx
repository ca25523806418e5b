import { ago, clockTime } from "../model/format.ts";
import { useNow } from "../state/clock.ts";

/** A time such as "3 min ago", with the exact time as its title. */
export function Ago({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {ago(at, now)}
    </time>
  );
}

/** A time such as "12:41", for narrow places. */
export function ClockTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {clockTime(at, Date.now())}
    </time>
  );
}
