// Small drawings in the colour of the text. They are decoration: the text beside them has the meaning.

const PATHS = {
  bell: "M6 9a6 6 0 0 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20a2 2 0 0 0 4 0",
  grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  tasks: "M4 6l2 2 3-3M4 13l2 2 3-3M12 7h8M12 14h8M4 20h16",
  plan: "M4 4h6v5H4zM4 15h6v5H4zM14 9h6v6h-6zM10 6.5h2v11h-2M12 12h2",
  inbox: "M4 13l3-8h10l3 8v6H4zM4 13h5l1 3h4l1-3h5",
  chart: "M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6",
  branch: "M7 4v10M7 20a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM17 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM17 10c0 5-10 3-10 7",
  gear: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 2v3M12 19v3M4.9 4.9L7 7M17 17l2.1 2.1M2 12h3M19 12h3M4.9 19.1L7 17M17 7l2.1-2.1",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  send: "M4 12l16-8-6 16-3-7z",
  stop: "M6 6h12v12H6z",
  pencil: "M4 20l1-5L16 4l4 4L9 19zM14 6l4 4",
  play: "M7 5l12 7-12 7z",
  share: "M12 15V3M8 7l4-4 4 4M5 13v7h14v-7",
  swap: "M4 8h14l-3-3M20 16H6l3 3",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  terminal: "M4 5h16v14H4zM7 9l3 3-3 3M12 15h5",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7-10-7-10-7zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  keyboard: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8",
  chevron: "M9 6l6 6-6 6",
  back: "M15 6l-6 6 6 6",
  expand: "M4 10V4h6M20 14v6h-6M4 4l7 7M20 20l-7-7",
  broom: "M14 4l-4 8M6 12h9l2 8H4z",
  check: "M5 12l5 5 9-11",
  tool: "M14 6a4 4 0 0 0-5 5l-6 6 3 3 6-6a4 4 0 0 0 5-5l-3 2-2-2z",
  exit: "M10 4H4v16h6M14 8l4 4-4 4M18 12H9",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
