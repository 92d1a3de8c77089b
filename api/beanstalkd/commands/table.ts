import type { Command, CommandName } from '../protocol.ts';
import type { Reply } from '../replies.ts';
import type { Session } from '../session.ts';

/** @returns the reply, or nothing when the connection is to be closed without one */
export type Handler<N extends CommandName> = (
  session: Session,
  command: Command & { name: N },
) => Reply | undefined | Promise<Reply | undefined>;

export type Handlers<N extends CommandName = CommandName> = { [K in N]: Handler<K> };
