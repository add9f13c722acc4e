/** What the person sees, and can do, when something is missing, broken or refused. */
import { beforeAll, describe } from "vitest";
import { python } from "./support/places.js";
import { stage } from "./support/stage.js";
import { Gate } from "./trouble/gate.js";
import { environment } from "./trouble/environment.js";
import { keys } from "./trouble/keys.js";
import { outages } from "./trouble/outages.js";
import { settingsFile } from "./trouble/settingsFile.js";
import { starting } from "./trouble/starting.js";
import { trust } from "./trouble/trust.js";

/** No program is found, neither a Python nor a daemon; VS Code does not ask a login shell for another PATH. */
const NO_PROGRAMS = { PATH: "/nowhere", VSCODE_CLI: "1" };

describe("the service", async () => {
  const gate = await Gate.make();
  const set = stage("trouble-service", {
    emulator: true,
    env: { GEMINI_API_KEY: "", GOOGLE_GEMINI_BASE_URL: gate.url },
  });
  beforeAll(() => {
    gate.leadTo(set.emulator.baseUrl);
    return () => gate.shut();
  });
  keys(set);
  outages(set, gate);
  settingsFile(set);
});

describe("trust", () => {
  trust(stage("trouble-trust", { emulator: true, restricted: true }));
});

describe("no daemon", () => {
  const offline = { PIP_CONFIG_FILE: "/dev/null", PIP_FIND_LINKS: "", PIP_RETRIES: "1" };
  starting(
    stage("trouble-starting", {
      settings: { "geminiCompanion.server.command": "" },
      env: { ...NO_PROGRAMS, ...offline },
    }),
  );
});

describe("the daemon of the extension", () => {
  const settings = { "geminiCompanion.server.command": "", "geminiCompanion.server.python": python };
  environment(stage("trouble-environment", { online: true, settings, env: NO_PROGRAMS }));
});
