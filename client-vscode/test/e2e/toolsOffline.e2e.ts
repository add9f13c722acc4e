/** The built-in model uses tools too: without a key, on this machine alone. */
import { stage } from "./support/stage.js";
import { offline } from "./tools/offline.js";

offline(stage("tools-offline", { env: { GEMINI_API_KEY: "" } }));
