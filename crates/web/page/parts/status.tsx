import type { Session } from "../api/types.ts";
import { planLook, planTaskLook } from "../model/plan.ts";
import { statusDetail, statusLook, taskLook, type StatusLook } from "../model/status.ts";

function Mark({ look }: { look: StatusLook }) {
  return (
    <span class={`status tone-${look.tone}`}>
      <span class="symbol" aria-hidden="true">
        {look.symbol}
      </span>
      {look.word}
    </span>
  );
}

export function StatusMark({ status }: { status: string }) {
  return <Mark look={statusLook(status)} />;
}

export function TaskMark({ state }: { state: string }) {
  return <Mark look={taskLook(state)} />;
}

export function PlanMark({ state }: { state: string }) {
  return <Mark look={planLook(state)} />;
}

export function PlanTaskMark({ status }: { status: string }) {
  return <Mark look={planTaskLook(status)} />;
}

/** The symbol alone, for narrow places. Screen readers get the word. */
export function StatusSymbol({ status }: { status: string }) {
  const { symbol, word, tone } = statusLook(status);
  return (
    <span class={`symbol tone-${tone}`}>
      <span aria-hidden="true">{symbol}</span>
      <span class="unseen">{word}</span>
    </span>
  );
}

export function StatusLine({ session }: { session: Session }) {
  const detail = statusDetail(session);
  return (
    <span class="status-line">
      <StatusMark status={session.status} />
      {detail && <span class="detail">{detail}</span>}
    </span>
  );
}
