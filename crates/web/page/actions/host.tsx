import { Palette } from "../keys/palette.tsx";
import { KeyHelp } from "../keys/help.tsx";
import { useCell } from "../state/cell.ts";
import { sheet } from "../state/sheets.ts";
import { AdoptSheet } from "./adopt.tsx";
import { AnswerSheet } from "./answer.tsx";
import { HandoffSheet } from "./handoff.tsx";
import { InterruptSheet } from "./interrupt.tsx";
import { NewSessionSheet } from "./new-session.tsx";
import { NewTaskSheet } from "./new-task.tsx";
import { ApproveSheet, PlanSheet, RetrySheet } from "./plan.tsx";
import { RenameSheet } from "./rename.tsx";
import { ResumeSheet } from "./resume.tsx";
import { ScaleSheet } from "./scale.tsx";
import { SendSheet } from "./send.tsx";
import { ShareSheet } from "./share.tsx";
import { StopSheet } from "./stop.tsx";
import { WorktreeSheet } from "./worktree.tsx";

/** Shows the dialog that is open. */
export function SheetHost() {
  const open = useCell(sheet);
  switch (open?.kind) {
    case undefined:
      return null;
    case "palette":
      return <Palette />;
    case "keys":
      return <KeyHelp />;
    case "answer":
      return <AnswerSheet session={open.session} choice={open.choice} />;
    case "send":
      return <SendSheet sessions={open.sessions} isInterrupt={open.isInterrupt} />;
    case "interrupt":
      return <InterruptSheet session={open.session} />;
    case "stop":
      return <StopSheet sessions={open.sessions} isLater={open.isLater} />;
    case "resume":
      return <ResumeSheet sessions={open.sessions} />;
    case "rename":
      return <RenameSheet session={open.session} />;
    case "scale":
      return <ScaleSheet session={open.session} />;
    case "adopt":
      return <AdoptSheet />;
    case "worktree":
      return <WorktreeSheet action={open.action} worktree={open.worktree} />;
    case "handoff":
      return <HandoffSheet session={open.session} />;
    case "share":
      return <ShareSheet session={open.session} />;
    case "approve":
      return <ApproveSheet plan={open.plan} task={open.task} />;
    case "plan":
      return <PlanSheet verb={open.verb} plan={open.plan} />;
    case "plan-retry":
      return <RetrySheet plan={open.plan} task={open.task} />;
    case "new-session":
      return <NewSessionSheet />;
    case "new-task":
      return <NewTaskSheet />;
  }
}
