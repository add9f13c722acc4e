/** Subagents in a large repository, in the real VS Code. */
import { stage } from "./support/stage.js";
import { CAP, investigating } from "./tools/investigating.js";

investigating(stage("subagents", { emulator: true, settings: { "geminiCompanion.compression.tokenCap": CAP } }));
