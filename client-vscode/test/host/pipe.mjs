// What the extension under test starts as its daemon: standard streams joined to the socket of the test that plays the daemon.
import { connect } from "node:net";

const socket = connect(process.argv[2]);
process.stdin.pipe(socket);
socket.pipe(process.stdout);
socket.on("close", () => process.exit(0));
socket.on("error", () => process.exit(1));
