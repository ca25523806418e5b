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
export type UsageGrouping = Schemas["UsageGrouping"];
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

export type Identity = Schemas["WebSessionView"];
export type WebLogin = Schemas["WebLoginReport"];
export type Screen = Schemas["ScreenView"];
export type Attention = Schemas["AttentionView"];
export type Share = Schemas["ShareView"];
export type CreatedShare = Schemas["ShareCreateReport"];
export type Vendor = Schemas["VendorReport"];
export type StoryPart = Schemas["StoryPart"];
export type AdoptReport = Schemas["AdoptReport"];
export type AdoptCandidate = Schemas["AdoptCandidate"];
export type ScaleReport = Schemas["ScaleReport"];
export type WaitReport = Schemas["WaitReport"];
export type StopReport = Schemas["StopReport"];
export type SourceList = Schemas["SourceList"];
export type Source = Schemas["SourceView"];
