import * as calls from "../api/calls.ts";
import type { Delivery } from "../api/types.ts";
import { size } from "../model/format.ts";
import { deliveryPath, taskPath } from "../model/routes.ts";
import { CodeBlock } from "../parts/markdown.tsx";
import { Ago } from "../parts/since.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { attempt } from "../parts/toast.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { useMay } from "../state/identity.ts";
import { useResource } from "../state/resource.ts";

const LOOKS: Record<string, [string, string]> = {
  received: ["◌", "starting"],
  processed: ["✓", "done"],
  ignored: ["·", "ended"],
  failed: ["✕", "failed"],
};

type Action = Delivery["actions"][number];

/** Returns what an event of a delivery did, as words. */
function actionWords(action: Action): string {
  switch (action.outcome) {
    case "task_added":
      return "added a task";
    case "task_known":
      return "the task exists already";
    case "refused":
      return `refused: ${action.reason}`;
    case "linked":
      return `linked the pull request to ${action.issue}`;
    case "closed":
      return `closed the work on ${action.issue}`;
    case "reopened":
      return `reopened ${action.issue}`;
    case "no_rule":
      return "no rule is about it";
  }
}

function DeliveryState({ state }: { state: string }) {
  const [symbol, tone] = LOOKS[state] ?? ["?", "idle"];
  return (
    <span class={`status tone-${tone}`}>
      <span class="symbol" aria-hidden="true">
        {symbol}
      </span>
      {state}
    </span>
  );
}

export function DeliveriesView() {
  const deliveries = useResource("deliveries", calls.deliveries, ["deliveries"]);
  return (
    <>
      <ViewHead title="Deliveries" />
      <Loaded of={deliveries} lines={6}>
        {(data) =>
          data.length === 0 ? (
            <Empty icon="inbox" title="No deliveries">
              <p>
                A forge that is a source of <code>config.toml</code> reports its events here.
              </p>
            </Empty>
          ) : (
            <ul class="rows" data-selectable>
              {[...data].reverse().map((delivery) => (
                <li key={delivery.id}>
                  <a class="row" href={deliveryPath(delivery.id)}>
                    <DeliveryState state={delivery.state} />
                    <strong>{delivery.source}</strong>
                    <span>{delivery.event ?? "no event"}</span>
                    <span class="row-text dim">
                      {delivery.reason ?? delivery.actions.map(actionWords).join(", ")}
                    </span>
                    <span class="dim">
                      <Ago at={delivery.received_at} />
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}

export function DeliveryView({ id }: { id: string }) {
  const content = useResource(`delivery ${id}`, () => calls.delivery(id), ["deliveries"]);
  const mayWork = useMay("work");
  const replay = () => attempt(() => calls.replayDelivery(id), "Compared with the rules again");
  return (
    <Loaded of={content} lines={8}>
      {({ delivery, headers, body }) => (
        <article>
          <p>
            <a href="/deliveries">Deliveries</a>
          </p>
          <ViewHead title={`${delivery.source}: ${delivery.event ?? "no event"}`}>
            {mayWork && (
              <button class="button" onClick={() => void replay()}>
                Replay
              </button>
            )}
          </ViewHead>
          <p class="session-facts">
            <DeliveryState state={delivery.state} />
            <span>{size(delivery.bytes)}</span>
            <Ago at={delivery.received_at} />
          </p>
          {delivery.reason && <p class="banner">{delivery.reason}</p>}
          <ul class="plain">
            {delivery.actions.map((action, index) => (
              <li key={index}>
                {"task" in action ? (
                  <a href={taskPath(action.task)}>{actionWords(action)}</a>
                ) : (
                  actionWords(action)
                )}
              </li>
            ))}
          </ul>
          <h2>Headers</h2>
          <CodeBlock language="headers" text={headers.map((it) => it.join(": ")).join("\n")} />
          <h2>Body</h2>
          <CodeBlock language="json" text={pretty(body)} />
        </article>
      )}
    </Loaded>
  );
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
