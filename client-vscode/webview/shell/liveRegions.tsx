import { useShell } from "./shell.js";

/** What a screen reader reads out: news politely, errors at once. Both regions are in the page from the start, or nothing would be read. */
export function LiveRegions() {
  const shell = useShell();
  const polite = shell.polite.value;
  const assertive = shell.assertive.value;
  return (
    <>
      <div class="unseen" role="status">
        <span key={polite.number}>{polite.text}</span>
      </div>
      <div class="unseen" role="alert">
        <span key={assertive.number}>{assertive.text}</span>
      </div>
    </>
  );
}
