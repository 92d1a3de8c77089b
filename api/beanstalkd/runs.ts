import { MAX_TCP_BYTES } from '../../domain/jobs.ts';
import { type Command, type CommandName, CRLF, parse, type Reader } from './protocol.ts';

/** A command; of a put also its body with CRLF, if all of it has arrived. */
export interface Sent {
  command: Command;
  data?: Buffer;
}

/** Most commands of a run. Limits its memory: a body may have 64 KB. */
const MOST_TOGETHER = 128;

/** Commands that may run concurrently with others of their name: they do not affect each other, if they name different jobs. */
const TOGETHER = new Set<CommandName>(['put', 'reserve', 'reserve-with-timeout', 'delete', 'release', 'bury', 'touch']);

/**
 * The run of commands that begins with this one: the commands of the same name behind it that have arrived. An invalid
 * one ends the run and is answered alone.
 */
export function runFrom(reader: Reader, command: Command): Sent[] {
  const first = TOGETHER.has(command.name) ? reader.ahead(() => whole(reader, command)) : undefined;
  if (!first) return [{ command }];
  const run = [first];
  const jobs = new Set([jobOf(command)]);
  while (run.length < MOST_TOGETHER) {
    const sent = reader.ahead(() => {
      const line = reader.lineHere();
      const next = line && !line.tooLong ? parse(line.text) : '';
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

const jobOf = (command: Command) => ('number' in command ? command.number : undefined);

/** A command with the body that it needs; undefined: the body is incomplete or invalid. */
function whole(reader: Reader, command: Command): Sent | undefined {
  if (command.name !== 'put') return { command };
  const { wellFormed, bytes } = command;
  const data = wellFormed && bytes <= MAX_TCP_BYTES ? reader.bytesHere(bytes + CRLF.length) : undefined;
  return data?.toString('latin1', bytes) === CRLF ? { command, data } : undefined;
}
