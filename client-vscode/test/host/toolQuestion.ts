/** Questions that the host's side asks one after the other, and what the person at the page answers. */
export const TOOL_ANSWERS = [
  { question: "run the tests", choose: "Allow Once", outcome: "once" },
  { question: "run the linter", choose: "Allow in This Chat", outcome: "session" },
  { question: "run the build", choose: "Always Allow", outcome: "always" },
  { question: "remove everything", choose: "Reject", outcome: "reject" },
  /** Waved away. */
  { question: "go on for ever", choose: undefined, outcome: "reject" },
] as const;
