import { ago, clockTime } from "../model/format.ts";
import { useNow } from "../state/clock.ts";

/** Sets the exact time as the title. It is made when it is needed: a list has hundreds of times. */
function showExactTime({ currentTarget: element }: { currentTarget: HTMLTimeElement }): void {
  element.title = new Date(element.dateTime).toLocaleString();
}

/** A time such as "3 min ago", with the exact time as its title. */
export function Ago({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} onPointerEnter={showExactTime}>
      {ago(at, now)}
    </time>
  );
}

/** A time such as "12:41", for narrow places. */
export function ClockTime({ at }: { at: string }) {
  return (
    <time dateTime={at} onPointerEnter={showExactTime}>
      {clockTime(at, Date.now())}
    </time>
  );
}
