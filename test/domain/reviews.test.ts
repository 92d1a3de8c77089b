import { expect, test } from 'vitest';
import { AuditCallback } from '../../contract/reviews.ts';
import { statusOf } from '../../domain/reviews.ts';

test.each([-2_147_483_649, -2_147_483_648, -1, 0, 2_147_483_647, 2_147_483_648, 1.5, '1', null])(
  'S1.1 a decision takes the status %s where an audit callback takes it',
  (status) => {
    const { success } = AuditCallback.shape.status.safeParse(status);
    expect(statusOf({ status })).toBe(success ? status : undefined);
  },
);
