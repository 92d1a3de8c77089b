import createClient from 'openapi-fetch';
import type { components, paths } from '../../../clients/typescript/src/openapi.ts';

// Adds, claims and decides a ticket with openapi-fetch. What is sent and answered is checked by the compiler.

const [baseUrl = '', key = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });
const queue = { path: { queue: 'reports' } };

const added = await client.POST('/v1/queues/{queue}/tickets', {
  params: queue,
  body: { id: 'report-1', body: { text: 'Followers for sale' }, priority: 3, requires: ['en'] },
});
if (!added.data) throw new Error(added.error.detail);
const { id, state } = added.data;
if (state !== 'waiting') throw new Error(`it is ${state}`);

const claimed = await client.POST('/v1/queues/{queue}/claim', {
  params: queue,
  body: { reviewer: 'anna', skills: ['en'] },
});
const [ticket] = claimed.data?.tickets ?? [];
const token = ticket?.lease?.token;
if (!ticket || !token) throw new Error(JSON.stringify(claimed));

const decision = { verdict: 'remove' };
const lost = await client.POST('/v1/tickets/{id}/decide', {
  params: { path: { id } },
  body: { token: `${token}x`, decision },
});
const refused: string | undefined = lost.error?.code;

const decided = await client.POST('/v1/tickets/{id}/decide', {
  params: { path: { id } },
  body: { token, decision },
});
if (decided.data?.ticket.decidedBy !== 'anna') throw new Error(JSON.stringify(decided));

// settings have defaults, and a priority is a number
const settings: components['schemas']['PutQueue'] = {};
const _byDefault = () => client.PUT('/v1/queues/{queue}', { params: queue, body: settings });
// @ts-expect-error
const _wrong: components['schemas']['NewTicket'] = { body: 1, priority: '3' };
void [_byDefault, _wrong];

process.stdout.write(JSON.stringify({ id, refused }));
