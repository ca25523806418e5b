// Whether the screen is wide enough for two columns of code.

import { useEffect, useState } from "preact/hooks";

const query = matchMedia("(min-width: 1000px)");

export function useWide(): boolean {
  const [isWide, setWide] = useState(query.matches);
  useEffect(() => {
    const change = () => setWide(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return isWide;
}
