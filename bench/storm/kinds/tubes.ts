import { setTimeout as sleep } from 'node:timers/promises';
import { Wire } from '../../../test/beanstalkd/wire.ts';
import type { Op } from '../journal.ts';
import type { Workload } from '../workload.ts';

const TUBE = 'tube';
const TTR = 3;
const CONSUMERS = 3;
const TIMEOUT_MS = 6_000;

/** Jobs over beanstalkd's protocol. A put has no id, so one whose answer was lost is not sent again. */
export function tubes(w: Workload): { close(): void } {
  const wires = new Set<Wire>();
  for (const work of [put, ...Array.from({ length: CONSUMERS }, () => reserve)]) {
    let wire: Wire | undefined;
    w.repeat(async () => {
      if (work === put && w.draining) return false;
      try {
        wire ??= await open(w, wires);
        return await work(w, wire);
      } catch {
        wire?.close();
        wire = undefined;
        return false;
      }
    });
  }
  return {
    close() {
      for (const wire of wires) wire.close();
    },
  };
}

async function open(w: Workload, wires: Set<Wire>): Promise<Wire> {
  const wire = await Wire.open(w.pick(w.servers).tcp());
  wires.add(wire);
  wire.socket.on('close', () => wires.delete(wire));
  for (const line of [`use ${TUBE}`, `watch ${TUBE}`])
    if (!/^(USING|WATCHING) /.test(await ask(wire, line))) throw new Error('it is not the tube that was asked for');
  return wire;
}

/** @throws Error where no reply comes: the connection is of no use any more */
async function ask(wire: Wire, line: string): Promise<string> {
  const none = sleep(TIMEOUT_MS, '(closed)', { ref: false });
  const reply = await Promise.race([wire.ask(line), none]);
  if (reply === '(closed)') throw new Error('no reply');
  return reply;
}

/** Journals a command. @throws Error where no reply comes */
async function command(w: Workload, wire: Wire, actor: string, what: string, args: object, line: string): Promise<Op> {
  const op = w.journal.begin(actor, what, args);
  const reply = await ask(wire, line).catch((error) => {
    w.journal.end(op, 'unknown', 0, error.message);
    throw error;
  });
  const refused = /^(NOT_|TIMED_OUT|DEADLINE|BURIED|DRAINING|[A-Z_]*ERROR|OUT_OF)/.test(reply);
  // an error of the server may hide that it was carried out
  const unknown = /^(INTERNAL_ERROR|OUT_OF_MEMORY)/.test(reply);
  return w.journal.end(op, unknown ? 'unknown' : refused ? 'refused' : 'ok', refused ? 409 : 200, reply.trimEnd());
}

async function put(w: Workload, wire: Wire): Promise<boolean> {
  const mark = w.name('p');
  const delay = w.chance(0.3) ? Math.ceil(w.roll() * 5) : 0;
  const body = JSON.stringify({ mark });
  const line = `put 1024 ${delay} ${TTR} ${body.length}\r\n${body}`;
  await command(w, wire, 'tube-producer', 'tube.put', { mark, delay }, line);
  await sleep(250);
  return true;
}

async function reserve(w: Workload, wire: Wire): Promise<boolean> {
  const op = await command(w, wire, 'tube-consumer', 'tube.reserve', {}, 'reserve-with-timeout 1');
  const [, number] = /^RESERVED (\d+)/.exec(op.answer) ?? [];
  if (number === undefined) return false;
  const path = w.draining ? 0 : w.roll();
  const id = `${TUBE}:${number}`;
  await sleep(w.roll() * 200);
  if (path < 0.8) await command(w, wire, 'tube-consumer', 'tube.delete', { id }, `delete ${number}`);
  else if (path < 0.9) await command(w, wire, 'tube-consumer', 'tube.release', { id }, `release ${number} 1024 1`);
  else wire.close();
  return true;
}
