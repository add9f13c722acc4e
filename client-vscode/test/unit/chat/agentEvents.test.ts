import { describe, expect, it } from "vitest";
import { ScriptedEvents } from "./scriptedEvents.js";

function handed(): ScriptedEvents {
  const args = { agent_name: "generalist", prompt: "Count the files" };
  return new ScriptedEvents()
    .started("t1", "go")
    .event({ type: "toolCallStarted", toolCallId: "c1", name: "invoke_agent", args, state: "running" }, "t1");
}

const AGENT = { type: "agentActivity", toolCallId: "c1", agent: "Generalist", agentSessionId: "s2" } as const;

describe("a subagent at work", () => {
  it("is a row that tells what it does, line by line, and leads to its own chat", () => {
    const told = handed()
      .event({ ...AGENT, kind: "started", text: "Count the files" }, "t1")
      .event({ ...AGENT, kind: "tool", text: "List ." }, "t1")
      .event({ ...AGENT, kind: "toolEnded", text: "List .: 3 names" }, "t1")
      .event({ ...AGENT, kind: "ended", text: "done" }, "t1");
    const [tool] = told.answer("t1").tools;
    expect(tool?.title).toBe("Hand to a subagent: Count the files");
    expect(tool?.output).toBe("List .: 3 names\n");
    expect(tool?.agentSession).toBe("s2");
  });

  it("asks in this chat and by its name, and its call ends there too", () => {
    const question = {
      sessionId: "s",
      turnId: "t1",
      toolCallId: "q1",
      name: "write_file",
      args: { file_path: "/w/a.py", content: "x" },
      title: "Edit a.py",
      risk: "edit",
      agent: "Generalist",
    } as const;
    const told = handed().event({ type: "toolQuestionAsked", question }, "t1");
    const asked = told.answer("t1").tools[1];
    expect(asked?.title).toMatch(/^Generalist: Write /);
    expect(asked?.state).toBe("waiting");
    told
      .event({ type: "toolQuestionAnswered", toolCallId: "q1", outcome: "once" }, "t1")
      .event({ type: "toolCallCompleted", toolCallId: "q1", outcome: "ok", summary: "+1 −0", durationMs: 3 }, "t1");
    expect(told.answer("t1").tools[1]?.state).toBe("ok");
  });
});
