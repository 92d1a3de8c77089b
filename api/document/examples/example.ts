/** What the document shows of an operation: a call that works, as a part of the story that all of them tell. */
export interface Example {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean>;
  body?: unknown;
  /** In place of `body`: several, by name. The first is what a page to try the API out begins with. */
  bodies?: Record<string, { summary: string; value: unknown }>;
  /** An answer that is another one each time, by status. All others are recorded (answers.json). */
  answers?: Answers;
}

/** By status; of an operation with several bodies, by the name of the body below that. */
export type Answers = Record<string, unknown>;

/** By operation. */
export type Examples = Record<string, Example>;

const token = (end: string) => `lt_0mi8z5w2o${end.padEnd(22, 'Q7xTb2nVd9Lr4sKe1yHc0A')}`;

/** What the server makes up, as it looks. */
export const MADE = {
  /** Leases of tickets. */
  report17: token('report17'),
  report18: token('report18'),
  report19: token('report19'),
  /** Reservations of jobs. */
  order2: token('order2'),
  order3: token('order3'),
  order3Again: token('order3again'),
  /** Holds of cases. */
  carla: token('carla'),
  david: token('david'),
  greta: token('greta'),
  /** A log id of a dispatch. */
  emil: token('emil'),
  keyId: '9f3c1a7be204',
  key: 'docket_9f3c1a7be204_Zk1uT3xQm8rVb5cLy2pWd7sNf0hJg4aEi6oKtUvXzMw',
  streamTicket: 'st_Qe7wRt1yUi4oPa9sDf2gHj6kLz0xCv3bNm8QwErTyUi',
  runId: '019a1c5e-6b7a-7c1e-9d42-3f5a8b7c6d5e',
};

/** When the story happens. */
export const NOW = '2026-11-21T09:30:00.000Z';
/** Half an hour before. */
export const EARLIER = '2026-11-21T09:00:00.000Z';

/** Who receives outcomes. */
export const RECEIVER = 'https://platform.example';
const SECRET = `whsec_${'c3Rvcnk='.repeat(4).replaceAll('=', 'A')}`;
export const callbackTo = (path: string) => ({ url: `${RECEIVER}/${path}`, secret: SECRET });

/** What an item's workflow says. */
export const workflowAnswer = (id: string, state: string, wakeAt: string | null) => ({
  200: {
    workflowId: id,
    runId: MADE.runId,
    status: 'running',
    snapshot: { version: 4, state, wakeAt, holder: null, events: [] },
    uiUrl: `http://127.0.0.1:8233/namespaces/default/workflows/${encodeURIComponent(id)}/${MADE.runId}/history`,
  },
});
