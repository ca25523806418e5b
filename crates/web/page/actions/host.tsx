import { Palette } from "../keys/palette.tsx";
import { KeyHelp } from "../keys/help.tsx";
import { useCell } from "../state/cell.ts";
import { sheet } from "../state/sheets.ts";
import { AnswerSheet } from "./answer.tsx";
import { HandoffSheet } from "./handoff.tsx";
import { NewSessionSheet } from "./new-session.tsx";
import { NewTaskSheet } from "./new-task.tsx";
import { ResumeSheet } from "./resume.tsx";
import { SendSheet } from "./send.tsx";
import { ShareSheet } from "./share.tsx";
import { StopSheet } from "./stop.tsx";

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
      return <SendSheet session={open.session} isInterrupt={open.isInterrupt} />;
    case "stop":
      return <StopSheet session={open.session} />;
    case "resume":
      return <ResumeSheet session={open.session} />;
    case "handoff":
      return <HandoffSheet session={open.session} />;
    case "share":
      return <ShareSheet session={open.session} />;
    case "new-session":
      return <NewSessionSheet />;
    case "new-task":
      return <NewTaskSheet />;
  }
}
