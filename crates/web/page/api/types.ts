// The types of requests and answers. Those of the OpenAPI document are generated from it.

import type { components } from "segue-api/schema";

type Schemas = components["schemas"];

export type Session = Schemas["SessionView"];
export type Question = Schemas["Dialog"];
export type Task = Schemas["TaskView"];
export type TaskResult = Schemas["TaskResult"];
export type Message = Schemas["MessageView"];
export type Turn = Schemas["Turn"];
export type TranscriptPage = Schemas["TranscriptPage"];
export type Worktree = Schemas["WorktreeView"];
export type WorktreeDiff = Schemas["WorktreeDiffReport"];
export type WorktreeAction = Schemas["WorktreeActionReport"];
export type ChangedFile = Schemas["ChangedFile"];
export type Delivery = Schemas["DeliveryView"];
export type DeliveryContent = Schemas["DeliveryReport"];
export type Usage = Schemas["Usage"];
export type UsageRow = Schemas["UsageRow"];
export type UsageList = Schemas["UsageList"];
export type DiskReport = Schemas["DiskReport"];
export type SweepReport = Schemas["SweepReport"];
export type LogEvent = Schemas["Event"];
export type Finding = Schemas["Finding"];
export type Token = Schemas["TokenView"];
export type CreatedToken = Schemas["TokenCreateReport"];
export type Scope = Schemas["TokenScope"];
export type HandoffRequest = Schemas["HandoffRequest"];
export type HandoffReport = Schemas["HandoffReport"];
export type RunRequest = Schemas["RunRequest"];
export type TaskAddRequest = Schemas["TaskAddRequest"];
export type PlanReport = Schemas["PlanReport"];
export type RestoreReport = Schemas["RestoreReport"];
export type Selection = Schemas["Selection"];
export type Problem = Schemas["Problem"];
export type Health = Schemas["Health"];

/** `GET /v1/web/session`: who uses this page. */
export interface Identity {
  csrf: string;
  scopes: Scope[];
  expires_at: string | null;
  /** The only session that a share link shows. `null` for a login. */
  session: string | null;
}

/** `GET /v1/sessions/{id}/screen`: the screen of an agent as text. */
export interface Screen {
  rows: number;
  columns: number;
  lines: string[];
  at: string;
}

export interface Share {
  id: string;
  session: string;
  address?: string | null;
  created_at?: string;
  expires_at: string;
}

export interface CreatedShare {
  id: string;
  url_path: string;
  expires_at: string;
}

/** `GET /v1/sources`: a forge of `config.toml`. */
export interface Source {
  name: string;
  forge?: string;
  kind?: string;
  url?: string | null;
  failure?: string | null;
  last_delivery_at?: string | null;
}
