// The built file beside extension.cjs; it is loaded when the daemon is first wanted.
export declare const connect: typeof import("./languageClient.js").connect;
