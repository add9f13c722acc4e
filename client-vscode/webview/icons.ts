/** The panel's icons: drawings of our own, 16 × 16, one stroke wide, in the colour of the text beside them. */

/** SVG path data by name. Strokes only: a filled shape would vanish where a theme gives icons no contrast. */
export const iconPaths = {
  add: "M8 3v10M3 8h10",
  arrowDown: "M8 3v10M4 9l4 4 4-4",
  arrowUp: "M8 13V3M4 7l4-4 4 4",
  at: "M10.5 8a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Zm0 0v1.2a1.7 1.7 0 0 0 3.4 0V8a5.9 5.9 0 1 0-2.4 4.7",
  check: "M3 8.5 6.5 12 13 4.5",
  chevronDown: "M4 6.5 8 10.5l4-4",
  chevronRight: "M6.5 4l4 4-4 4",
  chevronUp: "M4 9.5 8 5.5l4 4",
  close: "M4 4l8 8M12 4l-8 8",
  compress: "M3 2.5h10M3 13.5h10M8 2.5v4M8 13.5v-4M6 5l2 2 2-2M6 11l2-2 2 2",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8Z",
  diff: "M5 2.5v6M2 5.5h6M8 11.5h6",
  edit: "M3 13l.7-3L10.5 3.2a1.1 1.1 0 0 1 1.6 0l.7.7a1.1 1.1 0 0 1 0 1.6L6 12.3ZM9.3 4.5l2.2 2.2",
  ellipsis: "M3 7.5h1v1H3ZM7.5 7.5h1v1h-1ZM12 7.5h1v1h-1Z",
  error: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3.7M8 10.9v.1",
  exportFile: "M9 2.5H4v11h8V8M8 8l5.5-5.5M10 2.5h3.5V6",
  file: "M4 1.5h5L12.5 5v9.5H4ZM9 1.5V5h3.5",
  fork: "M4.5 5.5v5M4.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11.5 5.5c0 2.5-2 3-4 3.2-1.7.2-3 .8-3 1.8",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.3 6.3a1.75 1.75 0 1 1 2.5 1.65c-.6.3-.8.6-.8 1.3M8 11.2v.1",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.3V11M8 5v.1",
  lock: "M4 7.5h8v6H4ZM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  markdown: "M1.5 3.5h13v9h-13ZM4 10V6l2 2 2-2v4M11.5 6v4M10 8.5l1.5 1.5L13 8.5",
  pin: "M5.5 2h5L10 6.5l2 2.5H4l2-2.5ZM8 9v5",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.3 10.3 14 14",
  send: "M2.5 8 13.5 2.5 10.5 13.5 7.5 8.8ZM7.5 8.8 13.5 2.5",
  statistics: "M2.5 13.5h11M4.5 13.5V9M8 13.5V3M11.5 13.5V6.5",
  stop: "M4.5 4.5h7v7h-7Z",
  trash: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9M6.8 7v4M9.2 7v4",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M6 3.5l-3 3 3 3",
  warning: "M8 2.5 14.5 13.5h-13ZM8 6.5v3.2M8 11.6v.1",
} as const;

export type IconName = keyof typeof iconPaths;
