let format: Intl.NumberFormat | undefined;

/** A number as it is written where the person lives. A formatter takes some 20 ms to make: the first number waits for that, the activation does not. */
export function number(value: number): string {
  return (format ??= new Intl.NumberFormat()).format(value);
}
