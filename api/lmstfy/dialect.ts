import type { Problem } from '../../services/shared/problems.ts';
import type { Api } from '../api.ts';
import type { Dialect, DialectCall, DialectRoute } from '../dialects.ts';
import { guardOf, type Outcome } from '../frame.ts';
import { type Admission, type LmstfyCall, lmstfyCall } from './call.ts';
import { consume } from './consume.ts';
import { clearDeadLetter, deadLetter, deadLetterSize, respawn } from './dead-letter.ts';
import { ack, peekJob } from './jobs.ts';
import { publish, publishBulk, republish } from './publish.ts';
import { destroy, peekQueue, size } from './queues.ts';

type Work = (call: LmstfyCall) => Promise<Outcome>;

const by = (admission: Admission, work: Work) => async (call: DialectCall) => work(await lmstfyCall(call, admission));

const anyone = (work: Work) => by({ roles: ['producer', 'consumer'] }, work);
const consumers = (work: Work) => by({ roles: ['consumer'] }, work);

const QUEUE = '/api/:namespace/:queue';

const routes: DialectRoute[] = [
  { method: 'PUT', path: QUEUE, work: anyone(publish) },
  { method: 'PUT', path: `${QUEUE}/bulk`, work: anyone(publishBulk) },
  { method: 'PUT', path: `${QUEUE}/job/:job`, work: anyone(republish) },
  { method: 'GET', path: QUEUE, work: by({ roles: ['consumer'], several: true }, consume) },
  { method: 'GET', path: `${QUEUE}/peek`, work: anyone(peekQueue) },
  { method: 'GET', path: `${QUEUE}/size`, work: anyone(size) },
  { method: 'GET', path: `${QUEUE}/job/:job`, work: anyone(peekJob) },
  { method: 'DELETE', path: `${QUEUE}/job/:job`, work: anyone(ack) },
  { method: 'DELETE', path: QUEUE, work: consumers(destroy) },
  { method: 'GET', path: `${QUEUE}/deadletter`, work: anyone(deadLetter) },
  { method: 'GET', path: `${QUEUE}/deadletter/size`, work: anyone(deadLetterSize) },
  { method: 'PUT', path: `${QUEUE}/deadletter`, work: consumers(respawn) },
  { method: 'DELETE', path: `${QUEUE}/deadletter`, work: consumers(clearDeadLetter) },
];

/** Errors in lmstfy's own shape; it does not know 422. */
const problemAnswer = ({ status, code, message }: Problem) => ({
  status: code === 'invalid_request' ? 400 : status,
  body: { error: message },
});

/** lmstfy's HTTP API (docs/lmstfy.md). */
export const lmstfyDialect = (api: Api): Dialect => ({
  name: 'lmstfy',
  guard: guardOf(api),
  routes,
  problemAnswer,
  unknownPath: 'api not found',
});
