/** The chat reads, edits and runs, in the real VS Code: what is asked, and what comes of it. */
import { stage } from "./support/stage.js";
import { asking } from "./tools/asking.js";
import { changing } from "./tools/changing.js";
import { delegating } from "./tools/delegating.js";
import { editing } from "./tools/editing.js";
import { planning } from "./tools/planning.js";
import { running } from "./tools/running.js";
import { typing } from "./tools/typing.js";

const set = stage("tools", { emulator: true });
editing(set);
running(set);
changing(set);
asking(set);
planning(set);
delegating(set);
typing(set);
