// The board of tasks: four columns. A queued task is moved by dragging it, by its arrows or by keys.

import { useState } from "preact/hooks";

import * as calls from "../api/calls.ts";
import type { Task } from "../api/types.ts";
import { taskPath } from "../model/routes.ts";
import { BOARD_COLUMNS, boardOrder, firstLine } from "../model/status.ts";
import { Icon } from "../parts/icon.tsx";
import { Ago } from "../parts/since.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { TaskMark } from "../parts/status.tsx";
import { attempt, notify } from "../parts/toast.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { useMay } from "../state/identity.ts";
import { useResource } from "../state/resource.ts";
import { openSheet } from "../state/sheets.ts";
import { announce } from "../state/topics.ts";
import { movedPriorities } from "../model/priority.ts";

export function TasksView() {
  const tasks = useResource("tasks", calls.tasks, ["tasks"]);
  const mayWork = useMay("work");
  return (
    <>
      <ViewHead title="Tasks">
        {mayWork && (
          <button class="button primary" onClick={() => openSheet({ kind: "new-task" })}>
            <Icon name="plus" size={16} /> New task
          </button>
        )}
      </ViewHead>
      <Loaded of={tasks} lines={6}>
        {(data) =>
          data.length === 0 ? (
            <Empty icon="tasks" title="No tasks">
              <p>A task is work for an agent that starts without a person.</p>
            </Empty>
          ) : (
            <Board tasks={data} />
          )
        }
      </Loaded>
    </>
  );
}

function Board({ tasks }: { tasks: Task[] }) {
  const [dragged, setDragged] = useState<string | null>(null);
  return (
    <div class="board" data-selectable>
      {BOARD_COLUMNS.map(({ title, states }) => {
        const own = boardOrder(tasks, states);
        return (
          <section key={title} class="column" aria-label={title}>
            <h2>
              {title} <span class="dim">{own.length}</span>
            </h2>
            {own.length === 0 && <p class="dim column-empty">none</p>}
            <ol>
              {own.map((task, index) => (
                <TaskCard
                  key={task.id}
                  task={task}
                  isDragged={task.id === dragged}
                  onDrag={setDragged}
                  onDrop={() => void moveTask(own, dragged, index)}
                  onMove={(step) => void moveTask(own, task.id, index + step)}
                />
              ))}
            </ol>
          </section>
        );
      })}
    </div>
  );
}

async function moveTask(column: Task[], id: string | null, to: number): Promise<void> {
  const task = column.find((it) => it.id === id);
  if (!task || column[to] === undefined || column[to] === task) return;
  const changes = movedPriorities(column, task, to);
  if (changes.length === 0) {
    notify("Priorities end at 9 and −9: the task cannot be moved there", true);
    return;
  }
  await attempt(async () => {
    for (const { id: changed, priority } of changes) await calls.setPriority(changed, priority);
  });
  announce(["tasks"]);
}

function TaskCard(props: {
  task: Task;
  isDragged: boolean;
  onDrag: (id: string | null) => void;
  /** The dragged task was dropped at the place of this one. */
  onDrop: () => void;
  onMove: (step: 1 | -1) => void;
}) {
  const { task } = props;
  const [isOver, setOver] = useState(false);
  const mayWork = useMay("work");
  const isMovable = mayWork && task.state === "queued";
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    props.onDrop();
  };
  const classes = ["card", "task-card", isOver && "is-over", props.isDragged && "is-dragged"];
  return (
    <li
      class={classes.filter(Boolean).join(" ")}
      draggable={isMovable}
      data-task={task.id}
      onDragStart={() => props.onDrag(task.id)}
      onDragEnd={() => props.onDrag(null)}
      onDragOver={(event) => {
        if (!isMovable) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <a class="task-title" href={taskPath(task.id)}>
        {firstLine(task.prompt)}
      </a>
      {task.reason && <p class="task-reason">{task.reason}</p>}
      <span class="task-foot dim">
        <span>{task.agent}</span>
        {task.issue && <span>#{task.issue}</span>}
        {task.attempts > 1 && <span>{task.attempts} attempts</span>}
        {(task.state === "failed" || task.state === "cancelled") && (
          <TaskMark state={task.state} />
        )}
        <span class="spacer" />
        <Ago at={task.ended_at ?? task.started_at ?? task.created_at} />
      </span>
      {isMovable && <QueuePlace task={task} onMove={props.onMove} />}
    </li>
  );
}

function QueuePlace({ task, onMove }: { task: Task; onMove: (step: 1 | -1) => void }) {
  const title = firstLine(task.prompt);
  return (
    <span class="priority">
      <span class="dim">priority {task.priority}</span>
      <span class="spacer" />
      <button
        class="button quiet small"
        title="Start it earlier (K)"
        aria-label={`Start earlier: ${title}`}
        data-move="up"
        onClick={() => onMove(-1)}
      >
        ↑
      </button>
      <button
        class="button quiet small"
        title="Start it later (J)"
        aria-label={`Start later: ${title}`}
        data-move="down"
        onClick={() => onMove(1)}
      >
        ↓
      </button>
    </span>
  );
}
