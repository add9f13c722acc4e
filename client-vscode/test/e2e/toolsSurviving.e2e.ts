/** What is left of calls of tools when the window is reloaded or the daemon dies. */
import { stage } from "./support/stage.js";
import { surviving } from "./tools/surviving.js";

surviving(stage("tools-surviving", { emulator: true }));
