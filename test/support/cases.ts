import type { Client, Json, Reply } from './client.ts';

export function insist({ status, body }: Reply, what: string, ...wanted: number[]): Json {
  if (!wanted.includes(status)) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Makes or changes a court. */
export const court = async (client: Client, name: string, settings: object = {}): Promise<Json> =>
  insist(await client.put(`/v1/courts/${name}`, settings), 'court', 200);

/** Jurors by their ids, or as they are sent. */
export async function jurors(client: Client, name: string, all: (string | object)[], more: object = {}): Promise<Json> {
  const sent = all.map((one) => (typeof one === 'string' ? { id: one } : one));
  return insist(await client.put(`/v1/courts/${name}/jurors`, { jurors: sent, ...more }), 'jurors', 200);
}

/** Brings a case before a court. */
export const addCase = async (client: Client, name: string, sent: object = {}): Promise<Json> =>
  insist(await client.post(`/v1/courts/${name}/cases`, { body: null, ...sent }), 'case', 201);

export const addCases = async (client: Client, name: string, cases: object[]): Promise<void> => {
  const { results } = insist(await client.post(`/v1/courts/${name}/cases/batch`, { cases }), 'cases', 200);
  for (const { httpStatus, detail } of results) if (httpStatus !== 201) throw new Error(detail);
};

/** What a juror is handed, or why nothing. */
export const claim = async (client: Client, name: string, juror: string): Promise<Json> =>
  insist(await client.post(`/v1/courts/${name}/claim`, { juror }), 'claim', 200);

/** A claim that must hand out something. */
export async function claimed(client: Client, name: string, juror: string): Promise<{ id: string; token: string }> {
  const answer = await claim(client, name, juror);
  if (!answer.case) throw new Error(`${juror} got nothing: ${JSON.stringify(answer.reasons)}`);
  return { id: answer.case.id, token: answer.lease.token };
}

export const vote = (client: Client, id: string, token: string, option: string, more: object = {}): Promise<Reply> =>
  client.post(`/v1/cases/${id}/votes`, { token, option, ...more });

/** A vote that must be taken. */
export const voted = async (client: Client, id: string, token: string, option: string): Promise<Json> =>
  insist(await vote(client, id, token, option), 'vote', 200);

export const oneCase = async (client: Client, id: string): Promise<Json> =>
  insist(await client.get(`/v1/cases/${id}`), 'case', 200);

export const votes = async (client: Client, id: string): Promise<Json[]> =>
  insist(await client.get(`/v1/cases/${id}/votes?limit=500`), 'votes', 200).items;

export const stats = async (client: Client, name: string): Promise<Json> =>
  insist(await client.get(`/v1/courts/${name}/stats`), 'stats', 200);

export const invitations = async (client: Client, juror: string): Promise<Json[]> =>
  insist(await client.get(`/v1/jurors/${juror}/invitations`), 'invitations', 200).items;
