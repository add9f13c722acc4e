/**
 * What the extension host and the panel's page say to each other. Both sides compile against these schemas and check with them what comes.
 *
 * The host holds the truth (the conversation, queue, draft, chips); the page shows it. Every message of the host carries `rev`, which
 * rises by one per message to one page; a page that sees a gap says `ready` again and gets a `sync`. A page that boots (first time,
 * moved to another side bar, window reloaded) says `ready` too, so a second one is normal. While the view is hidden the host sends
 * nothing, and a `sync` when it shows again; rows whose `version` the page has already are not painted again.
 */
export type { Action, ActionId, AnswerRow, DividerRow, ErrorView, NoticeRow, PromptRow, Receipt, Row } from "./rows.js";
export type {
  Chip,
  DaemonView,
  HiddenRun,
  MeterView,
  OtherChat,
  PanelSettings,
  PanelState,
  QueuedPrompt,
  ScrollAnchor,
} from "./state.js";
export type { PastedRange, Written } from "./written.js";
export type { AnswerState, CompressionAction, DividerState } from "./statuses.js";
export type { AsksView, ChangedFile, Mode, QuestionView, RuleView, Task, ToolRow, WorkView } from "./tools.js";
export type { FromPage, PageRequest } from "./fromPage.js";
export type { Decoded, PageCommand, PageResults, ToPage, Unnumbered } from "./toPage.js";
