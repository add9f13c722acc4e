/** Subagents in a large repository, in the real VS Code. */
import { OWN_MODULES } from "./support/localModel.js";
import { stage } from "./support/stage.js";
import { CAP, investigating } from "./tools/investigating.js";

const settings = { "geminiCompanion.compression.tokenCap": CAP };
investigating(stage("subagents", { emulator: true, settings, env: { PYTHONPATH: OWN_MODULES } }));
