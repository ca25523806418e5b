// Times, numbers and sizes as people read them.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns a time such as "3 min ago". */
export function ago(at: string, now: number): string {
  const passed = now - Date.parse(at);
  if (Number.isNaN(passed)) return "";
  if (passed < MINUTE) return "just now";
  return `${duration(passed)} ago`;
}

/** Returns a length of time in its largest unit, such as "3 min". */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < MINUTE) return `${Math.round(milliseconds / 1000)} s`;
  if (milliseconds < HOUR) return `${Math.floor(milliseconds / MINUTE)} min`;
  if (milliseconds < DAY) {
    const hours = Math.floor(milliseconds / HOUR);
    const minutes = Math.floor((milliseconds % HOUR) / MINUTE);
    return minutes > 0 && hours < 10 ? `${hours} h ${minutes} min` : `${hours} h`;
  }
  const days = Math.floor(milliseconds / DAY);
  return days === 1 ? "1 day" : `${days} days`;
}

/** Returns "12:41" for today, and the day before it for other days. */
export function clockTime(at: string, now: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** Returns a number such as "1.2 M". */
export function count(value: number): string {
  if (value >= 1e9) return `${short(value / 1e9)} G`;
  if (value >= 1e6) return `${short(value / 1e6)} M`;
  if (value >= 1e4) return `${short(value / 1e3)} k`;
  return String(value);
}

/** Returns a size such as "4.2 GB". */
export function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : short(value)} ${units[unit]}`;
}

function short(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}

export function dollars(value: number): string {
  return `$${value.toFixed(2)}`;
}

/** Shortens a path to its last folders. */
export function shortPath(path: string): string {
  const home = /^\/(?:home\/[^/]+|root)(?=\/|$)/;
  const text = path.replace(home, "~");
  const parts = text.split("/");
  return parts.length > 4 ? `…/${parts.slice(-3).join("/")}` : text;
}

export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Makes a sentence of a message, which begins in lower case and has no full stop. */
export function sentence(message: string): string {
  const isWhole = /[.!?]$/.test(message);
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${isWhole ? "" : "."}`;
}
