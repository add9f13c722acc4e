/** MCP servers in the real VS Code. */
import { stage } from "./support/stage.js";
import { serving } from "./tools/serving.js";

serving(stage("servers", { emulator: true }));
