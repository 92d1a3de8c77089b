import { z } from '@hono/zod-openapi';
import { answer, request } from './common.ts';
import { chosenName } from './names.ts';

const SCHEME = 'temporal://';

/** A receiver over HTTP. */
export const SignedCallback = request('Callback', {
  url: z
    .string()
    .max(2000)
    .refine((url) => !isWorkflow(url), 'must be http or https')
    .openapi({ pattern: '^https?://' }),
  secret: z
    .string()
    // 8 to 20 groups of three bytes, then up to four bytes
    .regex(
      /^whsec_([A-Za-z0-9+/]{4}){8,20}([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{4}[A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?$/,
      'must be whsec_ and base64 of 24 to 64 bytes',
    ),
});

/** A workflow that receives outcomes as signals (B.1). */
const Target = z.strictObject({
  namespace: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,199}$/, 'must be the name of a namespace'),
  workflowId: chosenName(1000),
  runId: chosenName(200).optional().openapi({ description: 'Left out: the run that is open then' }),
  signal: chosenName(200),
});
export type WorkflowTarget = z.infer<typeof Target>;
export const ShownWorkflow = request('WorkflowCallback', { temporal: Target });

/** Where outcomes go. A workflow is kept as a URL, so that its deliveries are listed, counted and sent like any others. */
export const Callback = z.union([
  SignedCallback,
  ShownWorkflow.transform(({ temporal }) => ({ url: urlOf(temporal) })),
]);

/** A receiver over HTTP in an answer. */
export const ShownSigned = answer('ShownCallback', {
  url: z.string(),
  secret: z.string().openapi({ description: '`whsec_hidden` for those who may not set it' }),
});

export const ShownCallback = z.union([ShownSigned, ShownWorkflow]);

export const isWorkflow = (url: string): boolean => url.slice(0, SCHEME.length).toLowerCase() === SCHEME;

function urlOf({ namespace, workflowId, runId, signal }: WorkflowTarget): string {
  const run = runId === undefined ? '' : `?${encodeURIComponent(runId)}`;
  return `${SCHEME}${namespace}/${encodeURIComponent(workflowId)}/${encodeURIComponent(signal)}${run}`;
}

export function workflowOf(url: string): WorkflowTarget {
  const [path = '', run] = url.slice(SCHEME.length).split('?');
  const [namespace = '', workflowId = '', signal = ''] = path.split('/').map(decodeURIComponent);
  return { namespace, workflowId, ...(run !== undefined && { runId: decodeURIComponent(run) }), signal };
}
