// Data of the daemon that a view shows: loaded once, and again when an event changes it.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError, messageOf } from "../api/http.ts";
import type { Topic } from "../model/topics.ts";
import { watchTopic } from "./topics.ts";

export interface Resource<T> {
  data: T | null;
  /** Why the last request failed. Older data stay visible. */
  error: ApiError | null;
  isLoading: boolean;
  reload: () => void;
}

/**
 * Loads data when the component appears, when `key` changes, and when an event is about one of the
 * topics. Without `topics`, only `reload` loads again.
 */
export function useResource<T>(
  key: string,
  load: () => Promise<T>,
  topics: Topic[] = [],
): Resource<T> {
  const [state, setState] = useState<{ key: string; data: T | null; error: ApiError | null }>({
    key,
    data: null,
    error: null,
  });
  const [isLoading, setLoading] = useState(true);
  const loader = useRef(load);
  loader.current = load;
  const request = useRef(0);

  const reload = useCallback(async () => {
    const own = ++request.current;
    setLoading(true);
    try {
      const data = await loader.current();
      if (own === request.current) setState({ key, data, error: null });
    } catch (error) {
      if (own === request.current) {
        const known = error instanceof ApiError ? error : new ApiError(0, messageOf(error));
        setState((old) => ({ key, data: old.key === key ? old.data : null, error: known }));
      }
    }
    if (own === request.current) setLoading(false);
  }, [key]);

  const topicKey = topics.join(" ");
  useEffect(() => {
    void reload();
    const stops = topics.map((topic) => watchTopic(topic, () => void reload()));
    return () => {
      request.current++;
      for (const stop of stops) stop();
    };
  }, [key, topicKey]);

  const data = state.key === key ? state.data : null;
  return { data, error: state.key === key ? state.error : null, isLoading, reload };
}
