/** Long texts that do not go round in circles: a model's answer that did would be ended. */
export function sentences(text: string, count = 40): string {
  return Array.from({ length: count }, (_, index) => `${text}, case ${index}.`).join(" ");
}
