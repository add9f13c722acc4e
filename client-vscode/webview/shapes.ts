/** Shapes of untrusted values: what a message must look like before a line of the page reads it. */

/** Where a value differs from its shape, as in `state.chips[2].label`; undefined if it fits. */
export type Shape = (value: unknown, path: string) => string | undefined;

export const text: Shape = (value, path) => (typeof value === "string" ? undefined : path);
export const flag: Shape = (value, path) => (typeof value === "boolean" ? undefined : path);
/** Finite: neither `NaN` nor an infinity can be shown or compared. */
export const number: Shape = (value, path) => (Number.isFinite(value) ? undefined : path);
export const anything: Shape = () => undefined;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Fields that must be there, and fields that may be; others are let through unread. */
export function record(required: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}): Shape {
  return (value, path) => {
    if (!isRecord(value)) return path;
    for (const [name, shape] of Object.entries(required)) {
      const fault = shape(value[name], `${path}.${name}`);
      if (fault !== undefined) return fault;
    }
    for (const [name, shape] of Object.entries(optional)) {
      const fault = value[name] === undefined ? undefined : shape(value[name], `${path}.${name}`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

export function list(item: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return path;
    for (const [index, element] of value.entries()) {
      const fault = item(element, `${path}[${index}]`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

export function oneOf(...words: readonly string[]): Shape {
  return (value, path) => (typeof value === "string" && words.includes(value) ? undefined : path);
}

export function dictionary(item: Shape): Shape {
  return (value, path) => {
    if (!isRecord(value)) return path;
    for (const [name, element] of Object.entries(value)) {
      const fault = item(element, `${path}.${name}`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

/** A union told apart by the word in the field `tag`. */
export function tagged(tag: string, shapes: Readonly<Record<string, Shape>>): Shape {
  return (value, path) => {
    if (!isRecord(value)) return path;
    const word = value[tag];
    const shape = typeof word === "string" && Object.hasOwn(shapes, word) ? shapes[word] : undefined;
    return shape === undefined ? `${path}.${tag}` : shape(value, path);
  };
}
