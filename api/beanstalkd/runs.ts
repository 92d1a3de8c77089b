import { MAX_TCP_BYTES } from '../../domain/jobs.ts';
import { type Command, type CommandName, CRLF, parse, type Reader } from './protocol.ts';

/** A command; a put has its body with its CRLF, if all of it had come. */
export interface Sent {
  command: Command;
  data?: Buffer;
}

/** Commands of a run at most, which bounds what it keeps in memory: bodies have 64 KB. */
const MOST_TOGETHER = 128;

/** What may go together: none of them changes what another one of the same sort answers, if they name different jobs. */
const TOGETHER = new Set<CommandName>(['put', 'reserve', 'reserve-with-timeout', 'delete', 'release', 'bury', 'touch']);

/**
 * The run of commands that begins with this one: those of the same sort that the client has sent behind it, as far as
 * they have come. Whatever is wrong with one of them, it ends the run and is answered by itself.
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

/** A command with its body, if it needs one; undefined: not all of it is here, or it is not as it should be. */
function whole(reader: Reader, command: Command): Sent | undefined {
  if (command.name !== 'put') return { command };
  const { wellFormed, bytes } = command;
  const data = wellFormed && bytes <= MAX_TCP_BYTES ? reader.bytesHere(bytes + CRLF.length) : undefined;
  return data?.toString('latin1', bytes) === CRLF ? { command, data } : undefined;
}
