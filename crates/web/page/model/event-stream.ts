// Reads server-sent events. `EventSource` could do that, but it cannot send headers.

/** Collects the data of events from parts of a stream, which may end anywhere. */
export class EventStreamParser {
  private rest = "";

  /** Returns the data of the events that are complete now. */
  add(part: string): string[] {
    const blocks = (this.rest + part).split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.map(dataOf).filter((data) => data !== "");
  }
}

/** Returns the data of one event. Comments have none. */
function dataOf(block: string): string {
  const lines = block.split("\n").filter((line) => line.startsWith("data: "));
  return lines.map((line) => line.slice("data: ".length)).join("\n");
}
