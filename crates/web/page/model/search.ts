// Finds actions by the letters that a person types.

/** Returns how well a text matches, or `null` if it does not contain the letters in this order. */
export function matchScore(query: string, text: string): number | null {
  const wanted = query.toLowerCase().replace(/\s+/g, "");
  const lower = text.toLowerCase();
  if (wanted === "") return 0;
  const whole = lower.indexOf(query.toLowerCase().trim());
  if (whole >= 0) return 100 - Math.min(whole, 50);
  let score = 0;
  let at = -1;
  for (const letter of wanted) {
    const next = lower.indexOf(letter, at + 1);
    if (next < 0) return null;
    if (next === at + 1) score += 2;
    if (next === 0 || /\W/.test(lower[next - 1] ?? "")) score += 3;
    at = next;
  }
  return Math.min(score, 49);
}

/** Sorts items by how well they match, and leaves out those that do not. */
export function bestMatches<T>(query: string, items: T[], text: (item: T) => string): T[] {
  const scored: { item: T; score: number }[] = [];
  for (const item of items) {
    const score = matchScore(query, text(item));
    if (score !== null) scored.push({ item, score });
  }
  return scored.sort((a, b) => b.score - a.score).map(({ item }) => item);
}
