// Receives callbacks with the TypeScript client as a test says: program-receiving.mjs receive JSON
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { receive as receiveCallback, SignatureError } from '@docket/client';
import { asked, run, say } from './program-common.mjs';

/** Versions that outlive the program. */
function versionsIn(file) {
  const kept = () => {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      return {};
    }
  };
  return {
    last: async (key) => kept()[key] ?? null,
    keep: async (key, version) => writeFileSync(file, JSON.stringify({ ...kept(), [key]: version })),
  };
}

/** How often handling has failed, by key. */
const failures = new Map();

async function handle({ id, type, version, kind, itemId, key, item, message }) {
  say({ began: key });
  await sleep((asked.seconds ?? 0) * 1000);
  const failed = failures.get(key) ?? 0;
  if (failed < (asked.failures ?? 0)) {
    failures.set(key, failed + 1);
    throw new Error('as asked');
  }
  const whole = message.type === type && message[kind] === item;
  say({ handled: { id, type, version, kind, itemId, key, whole } });
}

async function receive() {
  const versions = asked.store && versionsIn(asked.store);
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    try {
      const outcome = await receiveCallback({ headers: request.headers, body, secret: asked.secret, versions, handle });
      response.end(JSON.stringify({ outcome }));
    } catch (error) {
      response.writeHead(error instanceof SignatureError ? 401 : 500).end(JSON.stringify({ error: error.name }));
    }
  });
  process.once('SIGTERM', () => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, '127.0.0.1', () => say({ url: `http://127.0.0.1:${server.address().port}` }));
}

await run({ receive });
