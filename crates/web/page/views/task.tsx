import * as calls from "../api/calls.ts";
import type { Task, TaskResult } from "../api/types.ts";
import { count, dollars, duration, plural } from "../model/format.ts";
import { sessionPath } from "../model/routes.ts";
import { firstLine } from "../model/status.ts";
import { tokensOf } from "../model/usage.ts";
import { Markdown } from "../parts/markdown.tsx";
import { Ago } from "../parts/since.tsx";
import { Loaded } from "../parts/states.tsx";
import { TaskMark } from "../parts/status.tsx";
import { attempt } from "../parts/toast.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { useMay } from "../state/identity.ts";
import { useResource } from "../state/resource.ts";

const ENDED = ["done", "failed", "cancelled"];

export function TaskView({ id }: { id: string }) {
  const task = useResource(`task ${id}`, () => calls.task(id), ["tasks"]);
  return (
    <Loaded of={task} lines={6}>
      {(data) => <TaskDetails task={data} />}
    </Loaded>
  );
}

function TaskDetails({ task }: { task: Task }) {
  return (
    <article>
      <p>
        <a href="/tasks">Tasks</a>
      </p>
      <ViewHead title={firstLine(task.prompt)} />
      <p class="session-facts">
        <TaskMark state={task.state} />
        <span>{task.agent}</span>
        {task.issue && <span>#{task.issue}</span>}
        {task.repository && <code>{task.repository}</code>}
        {task.branch && <code>{task.branch}</code>}
        <span>priority {task.priority}</span>
        <span>{plural(task.attempts, "attempt")}</span>
        <span class="dim">
          added <Ago at={task.created_at} />
        </span>
      </p>
      {task.reason && <p class="banner">{task.reason}</p>}
      <TaskActions task={task} />
      <h2>Work</h2>
      <Markdown text={task.prompt} />
      {task.result && <Result result={task.result} />}
    </article>
  );
}

function TaskActions({ task }: { task: Task }) {
  const mayWork = useMay("work");
  return (
    <p class="row-of-buttons">
      {task.session && (
        <a class="button" href={sessionPath(task.session, "talk")}>
          Open the session
        </a>
      )}
      {mayWork && !ENDED.includes(task.state) && (
        <button
          class="button"
          onClick={() => void attempt(() => calls.cancelTask(task.id), "The task is cancelled")}
        >
          Cancel the task
        </button>
      )}
      {mayWork && ENDED.includes(task.state) && (
        <button
          class="button"
          onClick={() => void attempt(() => calls.retryTask(task.id), "The task is queued again")}
        >
          Start it again
        </button>
      )}
    </p>
  );
}

function Result({ result }: { result: TaskResult }) {
  const { answer, commits, diff, verify, usage, note } = result;
  return (
    <section aria-label="Result">
      <h2>Result</h2>
      <p class="session-facts">
        <span>{duration(result.duration_ms)}</span>
        {diff && (
          <span>
            {plural(diff.files, "file")}, <span class="added-text">+{diff.insertions}</span>{" "}
            <span class="removed-text">−{diff.deletions}</span>
          </span>
        )}
        {usage && <span>{count(tokensOf(usage))} tokens</span>}
        {usage?.cost_usd != null && <span>{dollars(usage.cost_usd)}</span>}
        {verify && (
          <span class={verify.passed ? "tone-done" : "tone-failed"}>
            {verify.passed ? "✓ verified" : "✕ not verified"}: <code>{verify.command}</code>
          </span>
        )}
      </p>
      {note && <p class="banner">{note}</p>}
      {answer && <Markdown text={answer} />}
      {commits.length > 0 && (
        <ul class="plain">
          {commits.map(({ id, subject }) => (
            <li key={id}>
              <code>{id.slice(0, 9)}</code> {subject}
            </li>
          ))}
        </ul>
      )}
      {verify && !verify.passed && verify.output && (
        <pre class="asked" tabIndex={0} aria-label="Output of the verify command">
          {verify.output}
        </pre>
      )}
    </section>
  );
}
