import { z } from '@hono/zod-openapi';
import { Registry } from 'prom-client';
import { schemaState, wrongSettings } from '../../runtime/database.ts';
import * as figures from '../../services/figures/figures.ts';
import { perContext } from '../../services/shared/service.ts';
import type { Api } from '../api.ts';
import { answer, endpoint, ok } from '../endpoint.ts';
import { shared } from '../metrics.ts';
import { checkTemporal, isFollowed, orAfterLimit } from '../reachable.ts';

const Word = z.enum(['ok', 'unreachable', 'read_only', 'misconfigured', 'outdated', 'too_new', 'unknown']);
const words = { postgres: Word, schema: Word, temporal: Word };

/** Asked by those who watch the process, who have no key. */
const probe = { tag: 'System', roles: null, probe: true, scope: 'any' } as const;

export const livez = endpoint('getLiveness', 'GET /livez', {
  ...probe,
  summary: 'Whether the process answers; without the database it is alive, too',
  answers: { 200: z.object({ status: z.literal('ok') }) },
  handle: async () => ok({ status: 'ok' as const }),
});

/** What is known of both stores: probes that come at once share it. */
const stores = perContext((ctx) =>
  shared(() =>
    Promise.all([
      orAfterLimit(schemaState(ctx.db.pool), 'unreachable' as const),
      orAfterLimit(wrongSettings(ctx.db.pool), 'unreachable' as const),
      checkTemporal(ctx),
    ]),
  ),
);

export const readyz = endpoint('getReadiness', 'GET /readyz', {
  ...probe,
  summary:
    'Whether calls can be sent here: not before both stores were reached once; later without Temporal or a worker too',
  answers: {
    200: z.object({ status: z.enum(['ok', 'degraded']), ...words }),
    503: z.object({ status: z.literal('unavailable'), ...words }),
  },
  async handle({ api }) {
    const [schema, wrong, temporal] = await stores(api.ctx)();
    const reached = schema !== 'unreachable' && wrong !== 'unreachable';
    const isReadOnly = reached && wrong.some(({ name }) => name === 'transaction_read_only');
    const isWrong = reached && wrong.length > 0;
    const postgres = !reached ? 'unreachable' : isReadOnly ? 'read_only' : isWrong ? 'misconfigured' : 'ok';
    api.reached.temporal ||= temporal === 'ok';
    const found = { postgres, schema: reached ? schema : 'unknown', temporal } as const;
    const ready = postgres === 'ok' && schema === 'ok' && api.reached.temporal;
    if (!ready) return answer(503, { status: 'unavailable' as const, ...found });
    const works = temporal === 'ok' && (await isFollowed(api.ctx));
    return ok({ status: works ? ('ok' as const) : ('degraded' as const), ...found });
  },
});

/** Polls Temporal until its first answer, so that readiness does not depend on when it is checked. */
export function reachTemporal(api: Api, closing: AbortSignal): void {
  const { reached } = api;
  const ask = async () => {
    reached.temporal ||= (await checkTemporal(api.ctx)) === 'ok';
    if (!closing.aborted && !reached.temporal) setTimeout(ask, 1_000).unref();
  };
  void ask();
}

export const metricsEndpoint = endpoint('getMetrics', 'GET /metrics', {
  ...probe,
  summary: "Prometheus' text format",
  answers: { 200: z.string() },
  media: Registry.PROMETHEUS_CONTENT_TYPE,
  async handle({ api: { metrics }, hold }) {
    const text = await metrics.text();
    hold(text);
    return new Response(text, { headers: { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE } });
  },
});

export const nodesEndpoint = endpoint('listNodes', 'GET /v1/nodes', {
  tag: 'System',
  summary: 'The processes that are alive',
  roles: ['producer', 'reviewer', 'agent', 'consumer', 'supervisor'],
  scope: 'unbound',
  answers: {
    200: z.object({ items: z.array(z.object({ id: z.string(), url: z.string().nullable(), seenAt: z.string() })) }),
  },
  async handle({ ctx }) {
    const rows = await figures.nodes(ctx);
    return ok({ items: rows.map((n) => ({ id: n.id, url: n.url, seenAt: n.seen_at.toISOString() })) });
  },
});
