import { z } from '@hono/zod-openapi';

export const Delivery = z
  .object({
    n: z.number().int(),
    type: z.string(),
    version: z.number().int(),
    url: z.string(),
    state: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.number().int(),
    status: z.number().int().nullable(),
    error: z.string().nullable(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .openapi('Delivery');
