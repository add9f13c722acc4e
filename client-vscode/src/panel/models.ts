/** Names of models that run on this machine. */

/** The built-in model, which needs no network. */
export const OFFLINE_MODEL = "offline";

/** Whether a name is that of a model file of the person's own. */
export function isOwnModel(name: string): boolean {
  return name === "local" || name.startsWith("local:");
}
