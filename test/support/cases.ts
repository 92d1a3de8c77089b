import { type Http, insist, type Json, numbered, type Reply } from './http.ts';

/** Makes or changes a court. */
export const court = async (client: Http, name: string, settings: object = {}): Promise<Json> =>
  insist(await client.put(`/v1/courts/${name}`, settings), 'court', 200);

/** Adds jurors by their ids, or as they are sent. */
export async function jurors(client: Http, name: string, all: (string | object)[], more: object = {}): Promise<Json> {
  const sent = { jurors: all.map((one) => (typeof one === 'string' ? { id: one } : one)), ...more };
  return insist(await client.put(`/v1/courts/${name}/jurors`, sent), 'jurors', 200);
}

/** Brings a case before a court. */
export const addCase = async (client: Http, name: string, sent: object = {}): Promise<Json> =>
  insist(await client.post(`/v1/courts/${name}/cases`, { body: null, ...sent }), 'case', 201);

/** Brings many at once, some of them only by their ids. */
export async function addCases(client: Http, name: string, all: (string | object)[]): Promise<void> {
  const sent = all.map((one) => (typeof one === 'string' ? { id: one, body: one } : { body: null, ...one }));
  const { results } = insist(await client.post(`/v1/courts/${name}/cases/batch`, { cases: sent }), 'cases', 200);
  for (const { httpStatus, detail } of results) if (httpStatus !== 201) throw new Error(detail);
}

/** A court with its jurors and the cases before it, which are named as the court is where none are given. */
export async function openCourt(
  client: Http,
  name: string,
  settings: object,
  all: (string | object)[],
  cases: (string | object)[] = [name],
): Promise<void> {
  await court(client, name, settings);
  await jurors(client, name, all);
  if (cases.length > 0) await addCases(client, name, cases);
}

/** The answer to a claim: a case, or why there is none. */
export const claim = async (client: Http, name: string, juror: string): Promise<Json> =>
  insist(await client.post(`/v1/courts/${name}/claim`, { juror }), 'claim', 200);

/** A claim in the name of the client's key. */
export const claimOwn = async (client: Http, name: string): Promise<Json> =>
  insist(await client.post(`/v1/courts/${name}/claim`, {}), 'claim', 200);

/** A claim that must hand out something. */
export async function claimed(client: Http, name: string, juror: string): Promise<{ id: string; token: string }> {
  const answer = await claim(client, name, juror);
  if (!answer.case) throw new Error(`${juror} got nothing: ${JSON.stringify(answer.reasons)}`);
  return { id: answer.case.id, token: answer.lease.token };
}

/** The cases that new jurors are handed one after the other. */
export async function handed(client: Http, name: string, n: number, prefix: string): Promise<string[]> {
  const all = numbered(n, prefix);
  await jurors(client, name, all);
  const ids = [];
  for (const juror of all) ids.push((await claim(client, name, juror)).case?.id ?? 'nothing');
  return ids;
}

export const release = async (client: Http, id: string, token: string): Promise<Json> =>
  insist(await client.post(`/v1/cases/${id}/release`, { token }), 'release', 200);

export const vote = (client: Http, id: string, token: string, option: string, more: object = {}): Promise<Reply> =>
  client.post(`/v1/cases/${id}/votes`, { token, option, ...more });

/** A vote that must be taken. */
export const voted = async (client: Http, id: string, token: string, option: string): Promise<Json> =>
  insist(await vote(client, id, token, option), 'vote', 200);

/**
 * A claim and a vote, which must both succeed; the case after them.
 * @param option by the id of the case, where it depends on that
 */
export async function judge(
  client: Http,
  name: string,
  juror: string,
  option: string | ((id: string) => string),
): Promise<Json> {
  const { id, token } = await claimed(client, name, juror);
  return (await voted(client, id, token, typeof option === 'string' ? option : option(id))).case;
}

export const oneCase = async (client: Http, id: string): Promise<Json> =>
  insist(await client.get(`/v1/cases/${id}`), 'case', 200);

export const events = async (client: Http, id: string): Promise<Json[]> =>
  insist(await client.get(`/v1/cases/${id}/events?limit=500`), 'events', 200).items;

export const eventTypes = async (client: Http, id: string): Promise<string[]> =>
  (await events(client, id)).map((e) => e.type);

export const votes = async (client: Http, id: string): Promise<Json[]> =>
  insist(await client.get(`/v1/cases/${id}/votes?limit=500`), 'votes', 200).items;

export const stats = async (client: Http, name: string): Promise<Json> =>
  insist(await client.get(`/v1/courts/${name}/stats`), 'stats', 200);

export const invitations = async (client: Http, juror: string): Promise<Json[]> =>
  insist(await client.get(`/v1/jurors/${juror}/invitations`), 'invitations', 200).items;
