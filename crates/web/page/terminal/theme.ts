// The sixteen colours of terminals, for dark and for light pages.

import type { ITheme } from "@xterm/xterm";

const DARK: ITheme = {
  background: "#0d0f14",
  foreground: "#d7dbe4",
  cursor: "#d7dbe4",
  selectionBackground: "#3b4664",
  black: "#1b1f2a",
  red: "#f47c7c",
  green: "#7fd18b",
  yellow: "#e8c46a",
  blue: "#7aa8ff",
  magenta: "#d493e8",
  cyan: "#6fd0d8",
  white: "#d7dbe4",
  brightBlack: "#737b8e",
  brightRed: "#ff9c9c",
  brightGreen: "#9fe6a9",
  brightYellow: "#f6d98c",
  brightBlue: "#9dc0ff",
  brightMagenta: "#e6b3f5",
  brightCyan: "#95e4ea",
  brightWhite: "#ffffff",
};

const LIGHT: ITheme = {
  background: "#ffffff",
  foreground: "#1d212b",
  cursor: "#1d212b",
  selectionBackground: "#c9d5f5",
  black: "#1d212b",
  red: "#b42323",
  green: "#1c7a34",
  yellow: "#8a5a00",
  blue: "#1f55c4",
  magenta: "#8b2aa8",
  cyan: "#0c7480",
  white: "#6a7183",
  brightBlack: "#596072",
  brightRed: "#cf3535",
  brightGreen: "#23913f",
  brightYellow: "#a26b00",
  brightBlue: "#2e68e0",
  brightMagenta: "#a53ac5",
  brightCyan: "#118a98",
  brightWhite: "#3a4050",
};

export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

export function terminalTheme(): ITheme {
  return isDark() ? DARK : LIGHT;
}
