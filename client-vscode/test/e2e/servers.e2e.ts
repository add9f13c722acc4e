/** MCP servers in the real VS Code. */
import { OWN_MODULES } from "./support/localModel.js";
import { stage } from "./support/stage.js";
import { serving } from "./tools/serving.js";

serving(stage("servers", { emulator: true, env: { PYTHONPATH: OWN_MODULES } }));
