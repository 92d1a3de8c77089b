import { once } from 'node:events';
import type { Socket } from 'node:net';
import { MAX_TCP_BYTES } from '../../domain/jobs.ts';
import { type Handler, handlers, reserveTogether } from './commands.ts';
import type { Listener } from './listener.ts';
import * as protocol from './protocol.ts';
import { Session } from './session.ts';

const KEEP_ALIVE_MS = 60_000;

export type Connection = ReturnType<typeof serveConnection>;

/** Serves one client: one command after the other, or a run of pipelined commands of one name. */
export function serveConnection(listener: Listener, socket: Socket) {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  // `close` follows every error
  socket.on('error', () => {});
  const closed = serve(listener, socket).finally(() => socket.destroySoon());
  return {
    /** Ends it like a client that hangs up. */
    hangUp: () => void socket.destroy(),
    /** Resolves when everything that it had reserved is free again. */
    closed,
  };
}

async function serve(listener: Listener, socket: Socket): Promise<void> {
  const reader = new protocol.Reader(socket);
  const session = await Session.open(listener, reader, `beanstalkd ${socket.remoteAddress}:${socket.remotePort}`);
  socket.on('end', () => session.hangUp('half'));
  socket.on('close', () => session.hangUp('whole'));
  if (socket.destroyed) session.hangUp('whole');
  try {
    while (!session.gone) {
      const line = await reader.line();
      if (line === undefined) break;
      if (protocol.isHttp(line.text)) {
        listener.api.ctx.log.warn(
          { holder: session.holder },
          'an HTTP request came to the port of beanstalkd; hung up',
        );
        break;
      }
      const command = line.tooLong ? protocol.BAD_FORMAT : protocol.parse(line.text);
      const goesOn =
        typeof command === 'string'
          ? await send(session, socket, [command])
          : await answerRun(session, socket, runFrom(reader, command));
      if (!goesOn) break;
    }
  } finally {
    await session.close();
  }
}

/** @returns false when the connection is to be closed */
async function answerRun(session: Session, socket: Socket, run: Sent[]): Promise<boolean> {
  for (let left = run; left.length > 0; ) {
    const replies = await answer(session, left);
    if (!(await send(session, socket, replies))) return false;
    left = left.slice(replies.length);
  }
  return true;
}

/** @returns the replies to the first of these commands, at least one; undefined: the connection is to be closed */
async function answer(session: Session, run: Sent[]): Promise<(protocol.Reply | undefined)[]> {
  const commands = run.map(({ command }) => command);
  const [{ name }] = commands as [protocol.Command];
  if (name !== 'reserve' && name !== 'reserve-with-timeout') return Promise.all(run.map((sent) => one(session, sent)));
  const found = run.length > 1 ? await attempt(session, name, () => reserveTogether(session, commands)) : [];
  if (typeof found === 'string') return [found];
  return found.length > 0 ? found : [await one(session, run[0] as Sent)];
}

const one = (session: Session, { command, data }: Sent): Promise<protocol.Reply | undefined> =>
  attempt(session, command.name, async () => {
    session.listener.count(command.name);
    // the table pairs each name with its own command, which the lookup by name loses
    const handler = handlers[command.name] as Handler<protocol.CommandName>;
    return handler(session, command as never, data);
  });

async function attempt<T>(
  { listener }: Session,
  command: protocol.CommandName,
  work: () => Promise<T>,
): Promise<T | typeof protocol.INTERNAL_ERROR> {
  const { load, log } = listener.api.ctx;
  load.enter();
  try {
    return await work();
  } catch (error) {
    log.error({ command, err: (error as Error).message }, 'a command over TCP failed');
    return protocol.INTERNAL_ERROR;
  } finally {
    load.leave();
  }
}

/**
 * Sends all replies in one write. Waits while the client does not read; a client that never does is hung up on where all of
 * them together hold too much.
 * @returns false when the connection is to be closed
 */
async function send({ listener }: Session, socket: Socket, replies: (protocol.Reply | undefined)[]): Promise<boolean> {
  const said = replies.filter((reply) => reply !== undefined);
  const bytes = Buffer.concat(said.map((reply) => (typeof reply === 'string' ? Buffer.from(reply) : reply)));
  if (bytes.length > 0 && !socket.destroyed && !socket.write(bytes)) {
    const gone = new AbortController();
    const drop = () => gone.abort();
    const transfer = listener.api.transfers.begin('beanstalkd', undefined, () => void socket.destroy());
    transfer.add(bytes.length);
    socket.once('close', drop);
    await once(socket, 'drain', { signal: gone.signal }).catch(() => {});
    socket.off('close', drop);
    transfer.end();
  }
  return said.length === replies.length;
}

/** A command; of a put also its body with CRLF, if all of it has arrived. */
interface Sent {
  command: protocol.Command;
  data?: Buffer;
}

/** Most commands of a run. Limits its memory: a body may have 64 KB. */
const MOST_TOGETHER = 128;

/** Commands that may run concurrently with others of their name: they do not affect each other, if they name different jobs. */
const TOGETHER = new Set<protocol.CommandName>([
  'put',
  'reserve',
  'reserve-with-timeout',
  'delete',
  'release',
  'bury',
  'touch',
]);

/**
 * The run of commands that begins with this one: the commands of the same name behind it that have arrived. An invalid
 * one ends the run and is answered alone.
 */
function runFrom(reader: protocol.Reader, command: protocol.Command): Sent[] {
  const first = TOGETHER.has(command.name) ? reader.ahead(() => whole(reader, command)) : undefined;
  if (!first) return [{ command }];
  const run = [first];
  const jobs = new Set([jobOf(command)]);
  while (run.length < MOST_TOGETHER) {
    const sent = reader.ahead(() => {
      const line = reader.lineHere();
      const next = line && !line.tooLong ? protocol.parse(line.text) : '';
      if (typeof next === 'string' || next.name !== command.name) return undefined;
      const job = jobOf(next);
      return job !== undefined && jobs.has(job) ? undefined : whole(reader, next);
    });
    if (!sent) break;
    run.push(sent);
    jobs.add(jobOf(sent.command));
  }
  return run;
}

const jobOf = (command: protocol.Command) => ('number' in command ? command.number : undefined);

/** A command with the body that it needs; undefined: the body is incomplete or invalid. */
function whole(reader: protocol.Reader, command: protocol.Command): Sent | undefined {
  if (command.name !== 'put') return { command };
  const { wellFormed, bytes } = command;
  const data = wellFormed && bytes <= MAX_TCP_BYTES ? reader.bytesHere(bytes + protocol.CRLF.length) : undefined;
  return data?.toString('latin1', bytes) === protocol.CRLF ? { command, data } : undefined;
}
