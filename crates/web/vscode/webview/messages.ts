// What the extension and the page of a panel send each other.

export interface ShownSession {
  address: string;
  symbol: string;
  status: string;
  question: string | null;
  choices: string[];
}

/** A turn as `segue show --json` prints it. */
export interface ShownTurn {
  role: string;
  text: string;
  tool: string | null;
}

export type ToPanel =
  | { type: "restart" }
  | { type: "turn"; turn: ShownTurn }
  | { type: "session"; session: ShownSession | null }
  | { type: "failure"; text: string }
  | { type: "draft"; text: string };

/** `draft` is the text in the input that is not sent yet. */
export type FromPanel =
  | { type: "ready" }
  | { type: "answer" }
  | { type: "draft"; text: string }
  | { type: "send"; text: string };
