/** English as it is written in the source. */
export function t(text: string, ...args: readonly (string | number)[]): string {
  return text.replace(/\{(\d+)\}/g, (_, index: string) => String(args[Number(index)]));
}
