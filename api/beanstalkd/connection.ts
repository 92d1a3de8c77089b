import { once } from 'node:events';
import type { Socket } from 'node:net';
import { jobs } from './commands/jobs.ts';
import { looking } from './commands/looking.ts';
import { producing } from './commands/producing.ts';
import { reserving } from './commands/reserving.ts';
import type { Handler, Handlers } from './commands/table.ts';
import type { Door } from './door.ts';
import { BAD_FORMAT, type CommandName, isHttp, parse } from './protocol.ts';
import { Reader } from './reader.ts';
import { INTERNAL_ERROR, type Reply } from './replies.ts';
import { Session } from './session.ts';

const handlers: Handlers = { ...producing, ...reserving, ...jobs, ...looking };

const KEEP_ALIVE_MS = 60_000;

export interface Connection {
  /** Ends it as if the client had hung up. */
  hangUp(): void;
  /** Resolves when everything that it had reserved is free again. */
  readonly closed: Promise<void>;
}

/** Serves one client: one command after the other, whatever it sends ahead. */
export function serveConnection(door: Door, socket: Socket): Connection {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  // a lost connection says so by `close` too
  socket.on('error', () => {});
  const closed = serve(door, socket).finally(() => socket.destroySoon());
  return { hangUp: () => void socket.destroy(), closed };
}

async function serve(door: Door, socket: Socket): Promise<void> {
  const reader = new Reader(socket);
  const session = await Session.open(door, reader, `beanstalkd ${socket.remoteAddress}:${socket.remotePort}`);
  socket.on('end', () => session.hangUp('half'));
  socket.on('close', () => session.hangUp('whole'));
  if (socket.destroyed) session.hangUp('whole');
  try {
    while (!session.gone) {
      const line = await reader.line();
      if (line === undefined) break;
      if (isHttp(line.text)) {
        door.api.runtime.log.warn(
          { holder: session.holder },
          'an HTTP request came to the port of beanstalkd; hung up',
        );
        break;
      }
      const reply = line.tooLong ? BAD_FORMAT : await answer(session, line.text);
      if (reply === undefined) break;
      await send(socket, reply);
    }
  } finally {
    await session.close();
  }
}

async function answer(session: Session, line: string): Promise<Reply | undefined> {
  const command = parse(line);
  if (typeof command === 'string') return command;
  const { door } = session;
  const { load, log } = door.api.runtime;
  door.count(command.name);
  load.enter();
  try {
    // the table pairs each name with its own command, which the lookup by name loses
    const handler = handlers[command.name] as Handler<CommandName>;
    return await handler(session, command as never);
  } catch (error) {
    log.error({ command: command.name, err: (error as Error).message }, 'a command over TCP failed');
    return INTERNAL_ERROR;
  } finally {
    load.leave();
  }
}

/** One write for each reply; a client that doesn't read isn't served further. */
async function send(socket: Socket, reply: Reply): Promise<void> {
  if (socket.destroyed || socket.write(reply)) return;
  const gone = new AbortController();
  const drop = () => gone.abort();
  socket.once('close', drop);
  await once(socket, 'drain', { signal: gone.signal }).catch(() => {});
  socket.off('close', drop);
}
