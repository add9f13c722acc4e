/** What the schemas of the panel's messages are built with. Types are inferred from schemas, so that neither can drift from the other. */
import * as v from "valibot";
import { LONGEST_TEXT } from "./limits.js";

/** A type of plain data, read-only all through. */
export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;

/** The type that a schema lets through. */
export type Of<S extends v.GenericSchema> = Immutable<v.InferOutput<S>>;

/** One of the names of a table, such as the states in `statuses.ts`. */
export function nameIn<const T extends Readonly<Record<string, unknown>>>(
  table: T,
): v.PicklistSchema<(keyof T & string)[], undefined> {
  return v.picklist(Object.keys(table) as (keyof T & string)[]); // a literal has no keys but its own
}

/** A text of a person or a model. */
export const text = v.pipe(v.string(), v.maxLength(LONGEST_TEXT));
/** An id, a name, a query. */
export const word = v.pipe(v.string(), v.maxLength(4_096));
/** An index or a count. */
export const index = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
