import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type Handler, handlers } from './commands.ts';
import type { Listener } from './listener.ts';
import { BAD_FORMAT, type CommandName, isHttp, parse, Reader } from './protocol.ts';
import { INTERNAL_ERROR, type Reply } from './replies.ts';
import { Session } from './session.ts';

const KEEP_ALIVE_MS = 60_000;

export interface Connection {
  /** Ends it like a client that hangs up. */
  hangUp(): void;
  /** Resolves when everything that it had reserved is free again. */
  readonly closed: Promise<void>;
}

/** Serves one client: one command after the other, whatever it sends ahead. */
export function serveConnection(listener: Listener, socket: Socket): Connection {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  // a lost connection says so by `close` too
  socket.on('error', () => {});
  const closed = serve(listener, socket).finally(() => socket.destroySoon());
  return { hangUp: () => void socket.destroy(), closed };
}

async function serve(listener: Listener, socket: Socket): Promise<void> {
  const reader = new Reader(socket);
  const session = await Session.open(listener, reader, `beanstalkd ${socket.remoteAddress}:${socket.remotePort}`);
  socket.on('end', () => session.hangUp('half'));
  socket.on('close', () => session.hangUp('whole'));
  if (socket.destroyed) session.hangUp('whole');
  try {
    while (!session.gone) {
      const line = await reader.line();
      if (line === undefined) break;
      if (isHttp(line.text)) {
        listener.api.runtime.log.warn(
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
  const { listener } = session;
  const { load, log } = listener.api.runtime;
  listener.count(command.name);
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
