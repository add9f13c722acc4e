/** Subagents in a large repository, in the real VS Code. */
import { OWN_MODULES } from "./support/localModel.js";
import { stage } from "./support/stage.js";
import { CAP, investigating } from "./tools/investigating.js";

/** Prepared ones come a little earlier or later: where each compression falls is told of here. */
const settings = { "geminiCompanion.compression.tokenCap": CAP, "geminiCompanion.compression.background": "off" };
investigating(stage("subagents", { emulator: true, settings, env: { PYTHONPATH: OWN_MODULES } }));
