// @vitest-environment jsdom
import { afterEach, describe, expect, it } from "vitest";
import { baseState } from "../../panel/chatRows.js";
import type { MeterView, PanelState } from "../../../src/panel/contract.js";
import { Mounted } from "./mounted.js";

const READY = "A compression is prepared: you will not wait for it.";

let panel: Mounted;

/** The panel of a chat whose meter says this of the background. */
function withMeter(more: Partial<MeterView>): Partial<PanelState> {
  const meter: MeterView = { used: 440_000, limit: 1_048_576, source: "api", compressionAt: 524_288, mode: "auto" };
  return { meter: { ...meter, ...more } };
}

const become = (more: Partial<MeterView>, state: Partial<PanelState> = {}): Promise<void> =>
  panel.state({ ...withMeter(more), ...state });

afterEach(() => panel.unmount());

describe("a compression that is prepared", () => {
  it("is told by the meter, and read out once", async () => {
    panel = await Mounted.with(withMeter({}));
    expect(panel.has("button", /is prepared/)).toBe(false);
    await become({ background: "preparing" });
    expect(panel.has("button", /A compression is being prepared while you work\.$/)).toBe(true);
    expect(panel.shell.polite.value.text).toBe("");
    await become({ background: "prepared", saves: 300_000 });
    expect(panel.has("button", /It frees about 300,000 tokens\.$/)).toBe(true);
    expect(panel.shell.polite.value.text).toBe(READY);
    const { number } = panel.shell.polite.value;
    await become({ background: "prepared", saves: 310_000 });
    expect(panel.shell.polite.value.number).toBe(number);
  });

  it("is not read out where the person wants silence, nor of a chat that was only opened", async () => {
    panel = await Mounted.with(withMeter({}));
    const settings = { ...baseState.settings, announce: "off" } as const;
    await become({ background: "prepared" }, { settings });
    expect(panel.shell.polite.value.text).toBe("");
    await become({}, { session: { sessionId: "other", title: "" } });
    await become({ background: "prepared" }, { session: { sessionId: "third", title: "" } });
    expect(panel.shell.polite.value.text).toBe("");
  });
});
