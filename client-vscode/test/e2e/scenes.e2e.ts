import { chatting } from "./scenes/chatting.js";
import { compressing } from "./scenes/compressing.js";
import { deciding } from "./scenes/deciding.js";
import { goingAlong } from "./scenes/goingAlong.js";
import { hooking } from "./scenes/hooking.js";
import { keeping } from "./scenes/keeping.js";
import { living } from "./scenes/living.js";
import { stage } from "./support/stage.js";

const set = stage("scenes", { emulator: true });
chatting(set);
compressing(set);
deciding(set);
keeping(set);
goingAlong(set);
hooking(set);
living(set);
