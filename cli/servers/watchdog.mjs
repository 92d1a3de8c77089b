// Runs a server as long as the process that started it lives. Its only argument is the JSON that `spawnServer`
// (children.ts) sends. It is a process of its own because the IPC channel closes however its parent ends, also by
// kill -9. Plain JavaScript starts without a loader.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** The time for the server's last output; a child that it left may hold the pipe for longer. */
const FLUSH_MS = 1_000;

const { command, args, signal, graceMs, pidFile, ...options } = JSON.parse(process.argv[2] ?? '{}');
const server = spawn(command, args, { ...options, windowsHide: true, stdio: ['ignore', 'pipe', 'pipe'] });

// Through this process: a server that writes into a pipe without a reader would die before its shutdown is complete.
server.stdout.on('data', (chunk) => process.stdout.write(chunk));
server.stderr.on('data', (chunk) => process.stderr.write(chunk));
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

let stopping = false;
function stop() {
  if (stopping) return;
  stopping = true;
  server.kill(signal);
  setTimeout(() => server.kill('SIGKILL'), graceMs).unref();
}
process.on('disconnect', stop);
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, stop);

server.on('spawn', () => {
  if (pidFile) writeFileSync(pidFile, String(server.pid));
  report({ pid: server.pid });
});
server.on('error', (error) => {
  if (server.pid !== undefined) return; // a signal that could not be sent
  report({ error: error.message });
  process.exit(1);
});
server.on('exit', (code, by) => {
  const end = () => report({ ended: by ?? `exit code ${code}` }, () => process.exit(code ?? 1));
  server.on('close', end);
  setTimeout(end, FLUSH_MS);
});

function report(message, then = () => {}) {
  if (process.connected) process.send(message, then);
  else then();
}
