/** Tool arguments that a person edited. */
import * as v from "valibot";

const argumentsSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.check((value) => !Array.isArray(value)),
  v.record(v.string(), v.unknown()),
);

/** Arguments out of JSON; nothing if they are no object. */
export function readArguments(text: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = v.safeParse(argumentsSchema, text);
  return parsed.success ? parsed.output : undefined;
}
