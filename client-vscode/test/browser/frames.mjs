// What the frames of a page took: the time of its main thread's processor, out of the browser's own trace, so that other programs on the
// machine do not count.

const CATEGORIES = ["toplevel", "blink.user_timing", "devtools.timeline", "disabled-by-default-devtools.timeline"];

/** Has the browser write a trace while `play` runs. Returns the longest frame of each step that `play` marked, ms by the step's name. */
export async function tracedFrames(page, play) {
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: CATEGORIES });
  let trace;
  try {
    await play();
  } finally {
    trace = await browser.stopTracing();
  }
  return longestFrames(JSON.parse(trace.toString()).traceEvents);
}

/**
 * Steps are between the marks `begin:NAME` and `end:NAME`. A frame is all that the thread did from the end of one picture to the end of
 * the next: what scripts did before it and what the picture itself took.
 */
export function longestFrames(events) {
  const marks = events.filter(({ cat, name }) => cat === "blink.user_timing" && /^(begin|end):/.test(name));
  const [first] = marks;
  if (first === undefined) throw new Error("The page marked no step.");
  const here = ({ pid, tid }) => pid === first.pid && tid === first.tid;
  const tasks = events
    .filter((event) => here(event) && event.ph === "X" && event.name === "RunTask")
    .sort((one, other) => one.ts - other.ts);
  const pictures = events
    .filter((event) => here(event) && ["Commit", "Layerize"].includes(event.name))
    .map(({ ts }) => ts)
    .sort((one, other) => one - other);
  const longest = {};
  for (const begin of marks.filter(({ name }) => name.startsWith("begin:"))) {
    const step = begin.name.slice("begin:".length);
    const end = marks.find(({ name, ts }) => name === `end:${step}` && ts > begin.ts);
    if (end === undefined) throw new Error(`The step ${step} did not end.`);
    const during = tasks.filter(({ ts, dur = 0 }) => ts + dur > begin.ts && ts < end.ts);
    let frame = 0;
    let most = 0;
    for (const task of during) {
      frame += (task.tdur ?? 0) / 1000;
      most = Math.max(most, frame);
      if (pictures.some((ts) => ts >= task.ts && ts <= task.ts + task.dur)) frame = 0;
    }
    longest[`${step}Ms`] = Math.max(longest[`${step}Ms`] ?? 0, most);
  }
  return longest;
}
