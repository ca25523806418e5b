// A script of its own, small enough to run before the page itself is parsed: sends the requests
// whose answers the first view needs, so that they are on their way meanwhile.

import { pageHeaders, pageKey } from "./api/page-key.ts";
import { FIRST_PATHS, type FirstAnswers } from "./api/first-answers.ts";
import { parsePath } from "./model/routes.ts";

async function read(path: string, key: string): Promise<unknown> {
  const headers = pageHeaders(key);
  const response = await fetch(path, { headers, credentials: "same-origin", cache: "no-cache" });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

function send(key: string): FirstAnswers {
  const newest = read(FIRST_PATHS.newest, key);
  // The position in the events is older than the lists, so that no change between them is missed.
  const afterNewest = (path: string) => newest.then(() => read(path, key));
  return {
    newest,
    identity: read(FIRST_PATHS.identity, key),
    sessions: afterNewest(FIRST_PATHS.sessions),
    attention: afterNewest(FIRST_PATHS.attention),
  };
}

const key = pageKey();
const isLate = window.segueFirstAnswers !== undefined;
if (!isLate && key !== null && parsePath(location.pathname).view !== "login") {
  const answers = send(key);
  // The page sends a request that failed again, and reports why it fails.
  for (const answer of Object.values(answers)) answer.catch(() => {});
  window.segueFirstAnswers = answers;
}
